//! Where lines for people go: stderr, by a thread of its own. Whatever happens to stderr (closed, full, a
//! reader that sleeps), whoever writes a line goes on at once; at worst lines are lost, and counted.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::time::Duration;

use crate::progress_bar;

/// Lines that may wait for a slow reader.
const LINES_MAX: usize = 8192;
/// How long the end of the process waits for the last lines.
const PATIENCE: Duration = Duration::from_secs(1);

enum Message {
    Line(Vec<u8>),
    Flush(std::sync::mpsc::Sender<()>),
}

static LINES: OnceLock<Option<SyncSender<Message>>> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);

/// None where the system gives us no thread.
fn lines() -> Option<&'static SyncSender<Message>> {
    let start = || {
        let (sender, receiver) = sync_channel(LINES_MAX);
        let thread = std::thread::Builder::new().name("log".into());
        thread.spawn(move || write_all(&receiver)).ok().map(|_| sender)
    };
    LINES.get_or_init(start).as_ref()
}

fn write_all(messages: &Receiver<Message>) {
    for message in messages {
        match message {
            Message::Line(line) => {
                let lost = LOST.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    put(format!("{lost} log lines were lost: stderr does not keep up\n").as_bytes());
                }
                put(&line);
            }
            Message::Flush(done) => {
                let _ = done.send(());
            }
        }
    }
}

/// Nobody can be told that this failed.
fn put(line: &[u8]) {
    progress_bar::suspended(|| {
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(line).and_then(|()| stderr.flush());
    });
}

/// One line, or several that belong together.
pub fn line(bytes: Vec<u8>) {
    let taken = lines().is_some_and(|lines| lines.try_send(Message::Line(bytes)).is_ok());
    if !taken {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits, but not for long, until what was written so far is out.
pub fn flush() {
    let Some(Some(lines)) = LINES.get() else { return };
    let (done, is_done) = channel();
    if lines.try_send(Message::Flush(done)).is_ok() {
        let _ = is_done.recv_timeout(PATIENCE);
    }
}

/// For the log: one write is one event.
#[derive(Clone, Copy)]
pub struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        line(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
