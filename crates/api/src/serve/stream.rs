//! A client's socket, watched: what comes in and goes out is told to the connection's activity.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::connections::Connection;
use super::refused_head;

/// What the system may hold that was written and not sent yet, so that whoever does not read costs little.
const UNSENT_BYTES_MAX: u32 = 128 << 10;

pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    /// On its way to another thread.
    Away,
}

impl Listener {
    /// The address is none for a socket that only its owner can open.
    pub async fn accept(&self) -> io::Result<(Stream, Option<IpAddr>)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Small answers must not wait for more to say.
                let _ = stream.set_nodelay(true);
                #[cfg(target_os = "linux")]
                let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
                Ok((Stream::Tcp(stream), Some(peer.ip())))
            }
            Listener::Unix(listener) => Ok((Stream::Unix(listener.accept().await?.0), None)),
        }
    }
}

impl Stream {
    /// Says a few words if that can be done at once, whatever the client sent.
    pub fn refuse(&self, words: &[u8]) {
        let mut ignored = [0u8; 1024];
        // What was sent and not read would turn the end into a reset, and the words would be lost.
        let _ = match self {
            Stream::Tcp(stream) => stream.try_read(&mut ignored).and(stream.try_write(words)),
            Stream::Unix(stream) => stream.try_write(words),
            Stream::Away => Ok(0),
        };
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Away => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Away => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Away => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Away => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Away => Poll::Ready(Ok(())),
        }
    }
}

/// A socket that no runtime is told of.
pub struct Detached(std::net::TcpStream);

pub struct Watched {
    stream: Stream,
    connection: Arc<Connection>,
    /// No line of the client's has ended yet.
    in_first_line: bool,
    /// Headers of refusals, each with its end of line.
    refusal_headers: Arc<str>,
    replaced: Option<Replaced>,
    /// What was read and given back: it is read again first.
    again: Bytes,
}

/// What goes out in the place of what the HTTP library wrote.
struct Replaced {
    bytes: Vec<u8>,
    written: usize,
    /// How many bytes of the library's it stands for.
    stands_for: usize,
}

impl Watched {
    pub fn new(stream: Stream, connection: Arc<Connection>, refusal_headers: Arc<str>) -> Self {
        let (replaced, again) = (None, Bytes::new());
        Watched { stream, connection, in_first_line: true, refusal_headers, replaced, again }
    }

    /// Gives back what was read.
    pub fn read_again(&mut self, read: Bytes) {
        self.again = read;
    }

    /// Takes the socket from the runtime that is told of it; `attach` is to follow, on another. None for a socket that is not
    /// moved.
    pub fn detach(&mut self) -> Option<io::Result<Detached>> {
        match std::mem::replace(&mut self.stream, Stream::Away) {
            Stream::Tcp(stream) => Some(stream.into_std().map(Detached)),
            other => {
                self.stream = other;
                None
            }
        }
    }

    pub fn attach(&mut self, Detached(stream): Detached) -> io::Result<()> {
        self.stream = Stream::Tcp(TcpStream::from_std(stream)?);
        Ok(())
    }

    /// Writes as it is, whatever it looks like.
    pub fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        let outcome = match bufs {
            [only] => stream.poll_write(cx, only),
            bufs => stream.poll_write_vectored(cx, bufs),
        };
        self.told(outcome)
    }

    /// Writes what goes out instead, if anything does; once all of it is gone, the library is told that its own is.
    fn write_replaced(
        &mut self,
        cx: &mut Context<'_>,
        library: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        if self.replaced.is_none() {
            let bytes =
                refused_head::instead_of(library, self.in_first_line, &self.refusal_headers)?;
            self.replaced = Some(Replaced { bytes, written: 0, stands_for: library.len() });
        }
        let replaced = self.replaced.as_mut()?;
        while let Some(rest) = replaced.bytes.get(replaced.written..).filter(|it| !it.is_empty()) {
            match Pin::new(&mut self.stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Ok(0))),
                Poll::Ready(Ok(bytes)) => replaced.written += bytes,
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => return Some(Poll::Pending),
            }
        }
        let stands_for = replaced.stands_for;
        self.replaced = None;
        Some(Poll::Ready(Ok(stands_for)))
    }

    fn told(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(Ok(bytes)) => self.connection.activity(|activity| activity.wrote(*bytes)),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.connection.activity(|activity| activity.blocked(Instant::now())),
        }
        outcome
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let (true, Stream::Tcp(stream)) = (self.connection.is_stalled(), &self.stream) {
            // Else the system would go on offering the rest to a client that does not read.
            let _ = stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.again.is_empty() {
            let bytes = self.again.len().min(buf.remaining());
            buf.put_slice(&self.again.split_to(bytes));
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            let read = buf.filled().get(before..).unwrap_or_default();
            self.in_first_line &= !read.contains(&b'\n');
            self.connection.activity(|activity| activity.read(Instant::now));
        }
        outcome
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(outcome) = self.write_replaced(cx, buf) {
            return self.told(outcome);
        }
        self.poll_send(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut full = bufs.iter().filter(|buf| !buf.is_empty());
        if let (Some(only), None) = (full.next(), full.next())
            && let Some(outcome) = self.write_replaced(cx, only)
        {
            return self.told(outcome);
        }
        self.poll_send(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
