//! Counts tasks, so that stopping can wait for them.

use tokio::sync::watch;

pub(super) struct Running {
    count: watch::Sender<usize>,
}

/// One task; counted until it is dropped.
pub(super) struct RunningTask {
    count: watch::Sender<usize>,
}

impl Default for Running {
    fn default() -> Self {
        Running { count: watch::Sender::new(0) }
    }
}

impl Running {
    pub fn begin(&self) -> RunningTask {
        self.count.send_modify(|count| *count += 1);
        RunningTask { count: self.count.clone() }
    }

    pub async fn ended(&self) {
        // The sender is ours, so there is always one.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}
