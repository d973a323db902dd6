//! Ends what does not end by itself, whatever the threads that should do it are stuck in.
//!
//! In: a time and what to do then. A thread of its own, since a disk that hangs can hold any other.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Called off when it is dropped.
pub struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    pub fn start(limit: Duration, end: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        let (alive, called_off) = channel();
        let wait = move || {
            if called_off.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                end();
            }
        };
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(wait)?;
        Ok(Watchdog { _alive: alive })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_bites_while_everybody_else_is_stuck() {
        let (bitten, is_bitten) = channel();
        let _watchdog =
            Watchdog::start(Duration::from_millis(10), move || bitten.send(()).unwrap()).unwrap();
        // This thread waits for nothing else, as one that is stuck in the kernel.
        is_bitten.recv_timeout(Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn it_is_called_off_by_whoever_ends_in_time() {
        let (bitten, is_bitten) = channel::<()>();
        let watchdog = Watchdog::start(Duration::from_secs(3600), move || drop(bitten)).unwrap();
        drop(watchdog);
        // What it would have done is gone with it.
        assert_eq!(
            is_bitten.recv_timeout(Duration::from_secs(60)),
            Err(RecvTimeoutError::Disconnected)
        );
    }
}
