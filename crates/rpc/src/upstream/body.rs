//! The body of a node's reply, read with limits on its size while it streams in (`budget`) and copied at most once.

use crate::bound::Bound;
use crate::budget::{Held, OverBudget};
use crate::limiter::parse_retry_after;
use crate::wall_clock;
use bytes::{Bytes, BytesMut};
use http_body::Body;
use plain_http::Room;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

/// A length that is announced is a promise of a stranger: room is made for so much of it at once.
const BELIEVED_BYTES_MAX: usize = 4 << 20;

/// How much of a body is read.
pub struct BodyLimit {
    pub bytes_max: usize,
    pub held: Held,
}

impl Room for BodyLimit {
    type Full = OverBudget;

    fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        if bytes > self.bytes_max {
            return Err(OverBudget { bound: Bound::Answer, bytes_max: self.bytes_max });
        }
        self.held.grow_to(bytes)
    }
}

pub struct HttpReply {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

/// Why a body was not read to its end.
#[derive(Debug)]
pub enum Unread<E> {
    TooLarge(OverBudget),
    Broken(E),
}

impl<E> From<OverBudget> for Unread<E> {
    fn from(over: OverBudget) -> Self {
        Unread::TooLarge(over)
    }
}

pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?;
    parse_retry_after(value.to_str().ok()?, wall_clock::now())
}

pub async fn read<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    announced: Option<usize>,
    mut limit: BodyLimit,
) -> Result<Bytes, Unread<B::Error>> {
    // What is announced is refused before it is read; unpacked it is larger, and has no length yet.
    limit.grow_to(announced.unwrap_or(0))?;
    let Some(first) = chunk(&mut body).await.map_err(Unread::Broken)? else {
        return Ok(Bytes::new());
    };
    limit.grow_to(first.len())?;
    if announced == Some(first.len()) {
        return Ok(limit.held.wrap(first));
    }
    let room = announced.unwrap_or(first.len() * 4).min(BELIEVED_BYTES_MAX).max(first.len());
    let mut whole = BytesMut::with_capacity(room);
    whole.extend_from_slice(&first);
    while let Some(chunk) = chunk(&mut body).await.map_err(Unread::Broken)? {
        limit.grow_to(whole.len() + chunk.len())?;
        whole.extend_from_slice(&chunk);
    }
    Ok(limit.held.wrap(whole.freeze()))
}

/// The next piece of data; trailers are left out.
async fn chunk<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Result<Option<Bytes>, B::Error> {
    loop {
        let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await else {
            return Ok(None);
        };
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
}
