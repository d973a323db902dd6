//! The word to stop: Ctrl-C or SIGTERM.

use tokio::signal::unix::{SignalKind, signal};

/// Listens from this call on: a word that comes while everything is being started is heard as soon as
/// the returned future is waited for.
pub fn stop_asked() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
