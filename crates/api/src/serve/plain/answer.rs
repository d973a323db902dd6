//! Writing the answer to a plain request: a head, then a body of known length or in chunks.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::http::{HeaderValue, Response, StatusCode, response};
use bytes::Bytes;
use http_body::Body as HttpBody;

use super::socket::PlainSocket;

/// What is shorter is copied behind what goes before it: one piece costs the system less than two.
const COPIED_BYTES_MAX: usize = 16 << 10;
const HEAD_BYTES: usize = 768;
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// How a client sees where the body ends.
#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Length(u64),
    Chunks,
    /// The status says that there is no body.
    Nothing,
}

/// Writes all of it. `is_last`: the client asked for no other. Says whether this one ends the connection.
pub async fn write(
    socket: &mut PlainSocket,
    response: Response<Body>,
    is_last: bool,
) -> io::Result<bool> {
    let (mut parts, mut body) = response.into_parts();
    if is_last {
        parts.headers.insert(CONNECTION, CLOSE);
    }
    let framing = framing(parts.status, &body);
    let mut out = head(&parts, framing);
    match framing {
        Framing::Length(bytes) => write_whole(socket, &mut out, &mut body, bytes).await?,
        Framing::Chunks => write_chunks(socket, &mut out, &mut body).await?,
        Framing::Nothing => {}
    }
    if !out.is_empty() {
        socket.write([&out, b"", b""]).await?;
    }
    Ok(parts.headers.get(CONNECTION) == Some(&CLOSE))
}

fn framing(status: StatusCode, body: &Body) -> Framing {
    if status.is_informational() || matches!(status.as_u16(), 204 | 304) {
        return Framing::Nothing;
    }
    body.size_hint().exact().map_or(Framing::Chunks, Framing::Length)
}

/// `out`: what was not written yet; what is left in it afterwards still has to be.
async fn write_whole(
    socket: &mut PlainSocket,
    out: &mut Vec<u8>,
    body: &mut Body,
    mut left: u64,
) -> io::Result<()> {
    while left > 0 {
        let piece = next_piece(socket, body).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        // What is longer than it said would be taken for the next answer.
        left = left.checked_sub(piece.len() as u64).ok_or(io::ErrorKind::InvalidData)?;
        write_piece(socket, out, &piece, b"").await?;
    }
    Ok(())
}

async fn write_chunks(
    socket: &mut PlainSocket,
    out: &mut Vec<u8>,
    body: &mut Body,
) -> io::Result<()> {
    while let Some(piece) = next_piece(socket, body).await? {
        // An empty chunk is the end.
        if !piece.is_empty() {
            out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            write_piece(socket, out, &piece, b"\r\n").await?;
        }
    }
    out.extend_from_slice(b"0\r\n\r\n");
    Ok(())
}

async fn write_piece(
    socket: &mut PlainSocket,
    out: &mut Vec<u8>,
    piece: &[u8],
    end: &[u8],
) -> io::Result<()> {
    if piece.len() <= COPIED_BYTES_MAX {
        out.extend_from_slice(piece);
        out.extend_from_slice(end);
        socket.write([out, b"", b""]).await?;
    } else {
        socket.write([out, piece, end]).await?;
    }
    out.clear();
    Ok(())
}

/// Data alone: there are no trailers in what we answer.
async fn next_piece(socket: &mut PlainSocket, body: &mut Body) -> io::Result<Option<Bytes>> {
    loop {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
        match socket.while_there(frame).await? {
            None => return Ok(None),
            Some(Err(error)) => return Err(io::Error::other(error)),
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
        }
    }
}

fn head(parts: &response::Parts, framing: Framing) -> Vec<u8> {
    let body_bytes = match framing {
        Framing::Length(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
        Framing::Chunks | Framing::Nothing => 0,
    };
    let copied_bytes = Some(body_bytes).filter(|bytes| *bytes <= COPIED_BYTES_MAX).unwrap_or(0);
    let mut out = Vec::with_capacity(HEAD_BYTES + copied_bytes);
    let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
    let reason = parts.status.canonical_reason().unwrap_or_default();
    put(&[b"HTTP/1.1 ", parts.status.as_str().as_bytes(), b" ", reason.as_bytes(), b"\r\n"]);
    for (name, value) in &parts.headers {
        // Where the body ends is told below.
        if !matches!(*name, CONTENT_LENGTH | TRANSFER_ENCODING) {
            put(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
        }
    }
    match framing {
        Framing::Length(bytes) => {
            put(&[b"content-length: ", itoa::Buffer::new().format(bytes).as_bytes(), b"\r\n"]);
        }
        Framing::Chunks => put(&[b"transfer-encoding: chunked\r\n"]),
        Framing::Nothing => {}
    }
    put(&[b"\r\n"]);
    out
}
