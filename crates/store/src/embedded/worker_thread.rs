//! A thread that looks after something again and again, also where nobody asks for anything.

use std::sync::mpsc::{RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Ends when it is dropped.
pub struct WorkerThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WorkerThread {
    /// `look` is called after a pause, and says how long the next one is. What takes long asks in between whether it is
    /// to stop.
    pub fn start(
        name: &str,
        mut pause: Duration,
        mut look: impl FnMut(&dyn Fn() -> bool) -> Duration + Send + 'static,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = channel::<()>();
        let work = move || {
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = look(&|| stopped.try_recv() == Err(TryRecvError::Disconnected));
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(WorkerThread { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It holds the folder until it has ended; whoever opens it next wants it free.
            let _ = thread.join();
        }
    }
}
