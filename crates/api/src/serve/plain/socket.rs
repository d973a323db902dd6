//! A client's socket as plain requests need it: what was read and not yet understood, and answers on their way out.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};

use crate::serve::stream::Watched;

/// What is read at once, on the stack: a connection that waits for its next request holds no buffer.
const READ_BYTES: usize = 8 << 10;

pub struct PlainSocket {
    io: Watched,
    /// The next request, or its beginning.
    pub read: Bytes,
}

impl PlainSocket {
    pub fn new(io: Watched) -> Self {
        PlainSocket { io, read: Bytes::new() }
    }

    /// The socket, which will read again what was read here.
    pub fn give_back(mut self) -> Watched {
        self.io.read_again(self.read);
        self.io
    }

    /// Whether anything came, or was there; false at the end.
    pub async fn has_more(&mut self) -> io::Result<bool> {
        if self.read.is_empty() {
            poll_fn(|cx| self.poll_read(cx)).await?;
        }
        Ok(!self.read.is_empty())
    }

    /// Adds what comes next to what was read. Nothing is added at the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut room = [MaybeUninit::uninit(); READ_BYTES];
        let mut room = ReadBuf::uninit(&mut room);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut room))?;
        let came = room.filled();
        self.read = if self.read.is_empty() {
            Bytes::copy_from_slice(came)
        } else {
            [&self.read, came].concat().into()
        };
        Poll::Ready(Ok(came.len()))
    }

    /// Whether so many bytes came, without waiting for any.
    pub async fn has_already(&mut self, bytes: usize) -> io::Result<bool> {
        poll_fn(|cx| {
            while self.read.len() < bytes {
                match self.poll_read(cx)? {
                    // At the end the library says what is missing.
                    Poll::Pending | Poll::Ready(0) => return Poll::Ready(Ok(false)),
                    Poll::Ready(_) => {}
                }
            }
            Poll::Ready(Ok(true))
        })
        .await
    }

    /// Does the work, and gives it up when the client is gone.
    pub async fn while_there<T>(
        &mut self,
        mut work: impl Future<Output = T> + Unpin,
    ) -> io::Result<T> {
        poll_fn(|cx| {
            if let Poll::Ready(done) = Pin::new(&mut work).poll(cx) {
                return Poll::Ready(Ok(done));
            }
            // Requests that come before their turn wait in the system once there are some here.
            while self.read.len() < READ_BYTES {
                if ready!(self.poll_read(cx))? == 0 {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// All of it, one after the other.
    pub async fn write(&mut self, parts: [&[u8]; 3]) -> io::Result<()> {
        let mut slices = parts.map(IoSlice::new);
        let empty = parts.iter().rev().take_while(|part| part.is_empty()).count();
        let mut left = slices.get_mut(..parts.len() - empty).unwrap_or_default();
        while !left.is_empty() {
            let written = poll_fn(|cx| self.io.poll_send(cx, left)).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            IoSlice::advance_slices(&mut left, written);
        }
        Ok(())
    }

    /// Says that nothing more comes.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        self.io.shutdown().await
    }
}
