//! One connection: a request goes out, its reply comes in, and then the next one.

use std::io::{self, IoSlice};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::TcpStream;
use tokio::runtime::{self, Handle};

use crate::reply_head::{self, Framing, ReplyHead};

/// Room for a small reply; larger ones are read into room of their own.
const READ_BYTES: usize = 8 << 10;
const HEAD_BYTES_MAX: usize = 64 << 10;
/// What surrounds chunks: their sizes, and what follows the last one.
const CHUNK_LINE_BYTES_MAX: usize = 4 << 10;
/// A length that is announced is a promise of a stranger: room is made for so much of it at once.
const BELIEVED_BYTES_MAX: usize = 4 << 20;

/// How much of a body is read.
pub trait Room {
    /// Why no more of it is.
    type Full;

    /// The body is at least so large.
    fn grow_to(&mut self, bytes: usize) -> Result<(), Self::Full>;
}

/// Why a reply was not read to its end.
#[derive(Debug)]
pub enum Unread<F> {
    TooLarge(F),
    Broken(io::Error),
}

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

    /// The head of a request, and its body where that does not lie behind it.
    pub async fn send(&mut self, head: &[u8], body: &[u8]) -> Written {
        self.is_reusable = false;
        // Nothing was asked, so all there can be is the end.
        match self.stream.try_read_buf(&mut self.read) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Written::Nothing(error),
            Ok(_) => return Written::Nothing(io::ErrorKind::ConnectionAborted.into()),
        }
        let whole = head.len() + body.len();
        let mut sent = 0;
        while sent < whole {
            let written = match self.try_write((head, body), sent) {
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
                Ok(bytes) => sent += bytes,
                Err(error) if sent == 0 => return Written::Nothing(error),
                Err(error) => return Written::Some(error),
            }
        }
        self.is_reusable = sent == whole;
        Written::All
    }

    /// What of both was not sent yet, in one call.
    fn try_write(&self, (head, body): (&[u8], &[u8]), sent: usize) -> io::Result<usize> {
        let of_body = body.get(sent.saturating_sub(head.len())..).unwrap_or_default();
        match head.get(sent..) {
            None | Some([]) => self.stream.try_write(of_body),
            Some(of_head) if of_body.is_empty() => self.stream.try_write(of_head),
            Some(of_head) => {
                self.stream.try_write_vectored(&[IoSlice::new(of_head), IoSlice::new(of_body)])
            }
        }
    }

    /// Waits until more can be written. True where the server replies before it has read all, as it may to what it
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

    /// The reply to what was sent.
    pub async fn receive<R: Room>(
        &mut self,
        room: &mut R,
    ) -> Result<(ReplyHead, Bytes), Unread<R::Full>> {
        let head = self.receive_head().await.map_err(Unread::Broken)?;
        let body = self.receive_body(&head, room).await?;
        Ok((head, body))
    }

    /// Its body is to be received next.
    pub async fn receive_head(&mut self) -> io::Result<ReplyHead> {
        // Not before all of the reply is here.
        let was_all_sent = std::mem::take(&mut self.is_reusable);
        let mut head = self.head().await?;
        head.keeps_alive &= was_all_sent;
        Ok(head)
    }

    pub async fn receive_body<R: Room>(
        &mut self,
        head: &ReplyHead,
        room: &mut R,
    ) -> Result<Bytes, Unread<R::Full>> {
        let body = match head.framing {
            Framing::Length(bytes) => self.of_length(bytes, room).await?,
            Framing::Chunks => self.chunks(room).await?.freeze(),
            Framing::Close => self.until_close(room).await?.freeze(),
        };
        self.is_reusable = head.keeps_alive;
        Ok(body)
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

    async fn of_length<R: Room>(
        &mut self,
        bytes: usize,
        room: &mut R,
    ) -> Result<Bytes, Unread<R::Full>> {
        // What is announced is refused before it is read.
        room.grow_to(bytes).map_err(Unread::TooLarge)?;
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

    async fn chunks<R: Room>(&mut self, room: &mut R) -> Result<BytesMut, Unread<R::Full>> {
        let mut body = BytesMut::new();
        loop {
            let bytes = self.chunk_size().await.map_err(Unread::Broken)?;
            if bytes == 0 {
                self.trailers().await.map_err(Unread::Broken)?;
                return Ok(body);
            }
            room.grow_to(body.len().saturating_add(bytes)).map_err(Unread::TooLarge)?;
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

    async fn until_close<R: Room>(&mut self, room: &mut R) -> Result<BytesMut, Unread<R::Full>> {
        let mut body = self.read.split();
        loop {
            room.grow_to(body.len()).map_err(Unread::TooLarge)?;
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
