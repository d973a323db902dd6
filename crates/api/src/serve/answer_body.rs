//! The body of an answer on its way out: in pieces, so that it is seen how far the client has taken it,
//! and with the request's places, which are given back when it is gone.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::connections::{Connection, ForwardedPlace};

/// Small, so that many answers in one HTTP/2 connection all go on.
const PIECE_BYTES: usize = 16 << 10;

/// A request from the moment its head is complete until its answer is taken.
pub struct RequestPlace {
    id: u64,
    connection: Arc<Connection>,
    _forwarded: Option<ForwardedPlace>,
}

impl RequestPlace {
    pub fn new(
        connection: Arc<Connection>,
        is_h2: bool,
        forwarded: Option<ForwardedPlace>,
    ) -> Self {
        let id = connection.activity(|activity| activity.request_began(is_h2));
        RequestPlace { id, connection, _forwarded: forwarded }
    }
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        self.connection.activity(|activity| activity.request_ended(self.id, Instant::now()));
    }
}

pub struct AnswerBody {
    inner: Body,
    /// What is left of a large piece.
    rest: Bytes,
    place: RequestPlace,
}

impl AnswerBody {
    pub fn new(inner: Body, place: RequestPlace) -> Self {
        place.connection.activity(|activity| activity.answer_began(place.id, Instant::now()));
        AnswerBody { inner, rest: Bytes::new(), place }
    }

    fn went_on(&self, taken: Option<Instant>) {
        let RequestPlace { id, connection, .. } = &self.place;
        connection.activity(|activity| activity.answer_went_on(*id, taken));
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match Pin::new(&mut self.inner).poll_frame(cx) {
                Poll::Pending => {
                    self.went_on(None);
                    return Poll::Pending;
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return ended,
            }
        }
        self.went_on(Some(Instant::now()));
        let bytes = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, inner) = (self.rest.len() as u64, self.inner.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(rest));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}
