//! The terminal that bars are drawn on. One that went away is no reason to stop: what cannot be drawn is not.

use std::io::{self, Write};

use indicatif::TermLike;

/// Where the system does not say how wide it is.
const COLUMNS: u16 = 80;

#[derive(Debug)]
pub struct ProgressTerminal;

/// The library stops the process on any error, so there are none.
fn put(text: &str) -> io::Result<()> {
    let _ = io::stderr().write_all(text.as_bytes());
    Ok(())
}

/// Moves the cursor; by nothing is not at all, though terminals take 0 for 1.
fn moved(by: usize, direction: char) -> io::Result<()> {
    if by == 0 { Ok(()) } else { put(&format!("\x1b[{by}{direction}")) }
}

impl TermLike for ProgressTerminal {
    fn width(&self) -> u16 {
        let size = rustix::termios::tcgetwinsize(io::stderr());
        size.ok().map(|size| size.ws_col).filter(|columns| *columns > 0).unwrap_or(COLUMNS)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        moved(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        moved(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        moved(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        moved(n, 'D')
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        put(&format!("{s}\n"))
    }

    fn write_str(&self, s: &str) -> io::Result<()> {
        put(s)
    }

    fn clear_line(&self) -> io::Result<()> {
        put("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}
