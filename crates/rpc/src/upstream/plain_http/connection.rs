//! One connection to a node: a request goes out, its reply comes in, and then the next one.

use super::reply_head::{self, Framing, ReplyHead};
use crate::upstream::body::{BELIEVED_BYTES_MAX, BodyLimit, HttpReply, Unread};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::TcpStream;
use tokio::runtime::{self, Handle};

/// Room for a small reply; larger ones are read into room of their own.
const READ_BYTES: usize = 8 << 10;
const HEAD_BYTES_MAX: usize = 64 << 10;
/// What surrounds chunks: their sizes, and what follows the last one.
const CHUNK_LINE_BYTES_MAX: usize = 4 << 10;

pub struct Connection {
    stream: TcpStream,
    /// Which one is told what happens to it.
    pub runtime: runtime::Id,
    /// What came and was not understood yet.
    read: BytesMut,
    is_reusable: bool,
}

/// How much of a request was sent.
pub enum Written {
    All,
    Nothing(io::Error),
    Some(io::Error),
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        let runtime = Handle::current().id();
        Connection { stream, runtime, read: BytesMut::new(), is_reusable: false }
    }

    /// Whether the last reply ended where it should, and the node waits for another request.
    pub fn is_reusable(&self) -> bool {
        self.is_reusable && self.read.is_empty()
    }

    pub async fn send(&mut self, request: &[u8]) -> Written {
        self.is_reusable = false;
        // Nothing was asked, so all there can be is the end.
        match self.stream.try_read_buf(&mut self.read) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Written::Nothing(error),
            Ok(_) => return Written::Nothing(io::ErrorKind::ConnectionAborted.into()),
        }
        let mut left = request;
        while !left.is_empty() {
            let written = match self.stream.try_write(left) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match self.reply_came_first().await {
                        // It is read, and the connection not used again: the rest will not be sent.
                        Ok(true) => break,
                        Ok(false) => continue,
                        Err(error) => Err(error),
                    }
                }
                written => written,
            };
            match written {
                Ok(bytes) => left = left.get(bytes..).unwrap_or_default(),
                Err(error) if left.len() == request.len() => return Written::Nothing(error),
                Err(error) => return Written::Some(error),
            }
        }
        self.is_reusable = left.is_empty();
        Written::All
    }

    /// Waits until more can be written. True where the node replies before it has read all, as it may to what it
    /// finds too large.
    async fn reply_came_first(&mut self) -> io::Result<bool> {
        let ready = self.stream.ready(Interest::READABLE | Interest::WRITABLE).await?;
        if !ready.is_readable() {
            return Ok(false);
        }
        match self.stream.try_read_buf(&mut self.read) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub async fn receive(&mut self, mut limit: BodyLimit) -> Result<HttpReply, Unread<io::Error>> {
        // Not before all of it is here.
        let was_all_sent = std::mem::take(&mut self.is_reusable);
        let head = self.head().await.map_err(Unread::Broken)?;
        let body = match head.framing {
            Framing::Length(bytes) => self.of_length(bytes, &mut limit).await?,
            Framing::Chunks => self.chunks(&mut limit).await?.freeze(),
            Framing::Close => self.until_close(&mut limit).await?.freeze(),
        };
        let ReplyHead { status, retry_after, keeps_alive, .. } = head;
        self.is_reusable = was_all_sent && keeps_alive;
        Ok(HttpReply { status, retry_after, body: limit.held.wrap(body) })
    }

    /// The head of the reply itself: others may come before it.
    async fn head(&mut self) -> io::Result<ReplyHead> {
        loop {
            if !self.read.is_empty() {
                match reply_head::read(&self.read).map_err(broken)? {
                    Some(head) if head.status == 101 => {
                        return Err(broken("a change of protocol that was not asked for"));
                    }
                    Some(head) => {
                        self.read.advance(head.bytes);
                        if head.status >= 200 {
                            return Ok(head);
                        }
                        continue;
                    }
                    None if self.read.len() >= HEAD_BYTES_MAX => {
                        return Err(broken("the head of the reply is too large"));
                    }
                    None => {}
                }
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> io::Result<()> {
        self.read.reserve(READ_BYTES);
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    async fn of_length(
        &mut self,
        bytes: usize,
        limit: &mut BodyLimit,
    ) -> Result<Bytes, Unread<io::Error>> {
        // What is announced is refused before it is read.
        limit.grow_to(bytes)?;
        if bytes <= READ_BYTES {
            while self.read.len() < bytes {
                self.read_more().await.map_err(Unread::Broken)?;
            }
            // A copy of its own: the room that replies are read into stays with the connection.
            let body = Bytes::copy_from_slice(self.read.get(..bytes).unwrap_or_default());
            self.read.advance(bytes);
            return Ok(body);
        }
        let mut body = BytesMut::new();
        self.take(bytes, &mut body).await.map_err(Unread::Broken)?;
        Ok(body.freeze())
    }

    /// Adds so many bytes of what comes to `body`.
    async fn take(&mut self, bytes: usize, body: &mut BytesMut) -> io::Result<()> {
        let whole = body.len().saturating_add(bytes);
        let here = bytes.min(self.read.len());
        body.reserve(bytes.min(BELIEVED_BYTES_MAX).max(here));
        body.extend_from_slice(self.read.get(..here).unwrap_or_default());
        self.read.advance(here);
        while body.len() < whole {
            if body.len() == body.capacity() {
                body.reserve((whole - body.len()).min(body.len().max(BELIEVED_BYTES_MAX)));
            }
            let left = whole - body.len();
            let mut room = (&mut *body).limit(left);
            if self.stream.read_buf(&mut room).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    async fn chunks(&mut self, limit: &mut BodyLimit) -> Result<BytesMut, Unread<io::Error>> {
        let mut body = BytesMut::new();
        loop {
            let bytes = self.chunk_size().await.map_err(Unread::Broken)?;
            if bytes == 0 {
                self.trailers().await.map_err(Unread::Broken)?;
                return Ok(body);
            }
            limit.grow_to(body.len().saturating_add(bytes))?;
            self.take(bytes, &mut body).await.map_err(Unread::Broken)?;
            if !self.line().await.map_err(Unread::Broken)?.is_empty() {
                return Err(Unread::Broken(broken("a chunk longer than it said")));
            }
        }
    }

    async fn chunk_size(&mut self) -> io::Result<usize> {
        loop {
            match httparse::parse_chunk_size(&self.read) {
                Ok(httparse::Status::Complete((line_bytes, size))) => {
                    self.read.advance(line_bytes);
                    return usize::try_from(size).map_err(|_| broken("the size of a chunk"));
                }
                Ok(httparse::Status::Partial) if self.read.len() < CHUNK_LINE_BYTES_MAX => {
                    self.read_more().await?;
                }
                _ => return Err(broken("the size of a chunk")),
            }
        }
    }

    /// What follows the last chunk says nothing that is wanted.
    async fn trailers(&mut self) -> io::Result<()> {
        let mut bytes = 0;
        loop {
            let line = self.line().await?;
            bytes += line.len();
            if line.is_empty() {
                return Ok(());
            }
            if bytes > CHUNK_LINE_BYTES_MAX {
                return Err(broken("too much behind the last chunk"));
            }
        }
    }

    /// The next line, without its end.
    async fn line(&mut self) -> io::Result<BytesMut> {
        loop {
            if let Some(at) = self.read.windows(2).position(|it| it == b"\r\n") {
                let line = self.read.split_to(at);
                self.read.advance(2);
                return Ok(line);
            }
            if self.read.len() > CHUNK_LINE_BYTES_MAX {
                return Err(broken("a line between chunks is too long"));
            }
            self.read_more().await?;
        }
    }

    async fn until_close(&mut self, limit: &mut BodyLimit) -> Result<BytesMut, Unread<io::Error>> {
        let mut body = self.read.split();
        loop {
            limit.grow_to(body.len())?;
            body.reserve(READ_BYTES.max(body.len() / 2));
            if self.stream.read_buf(&mut body).await.map_err(Unread::Broken)? == 0 {
                return Ok(body);
            }
        }
    }
}

fn broken(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}
