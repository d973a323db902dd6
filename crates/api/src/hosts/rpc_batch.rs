//! A JSON-RPC batch: calls are answered side by side, a few at a time, and written in their order as they
//! come. A large answer streams, so that it is never in memory as a whole.
//!
//! In: the calls of a batch. Out: one response. Must not know: what the calls mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use gateway::RequestScope;
use model::chain::ChainId;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::node_rpc::answered_from;
use crate::app::App;
use crate::keys::Owner;
use crate::response_budget::Held;

/// Calls of one batch that are being answered at once.
const AT_ONCE: usize = 32;
/// What a call's answer is taken to need before it is known.
const CALL_BYTES: usize = 4 << 10;
/// An answer longer than this streams.
const STREAM_FROM_BYTES: usize = 256 << 10;
/// As geth says it, whose clients know it.
const TOO_LARGE: (i32, &str) = (
    -32003,
    "response too large: the answers to this batch exceed gateway.batch_bytes_max; ask in smaller batches",
);
const TOO_SLOW: (i32, &str) = (-32000, "the answer took too long");
const BUSY: (i32, &str) = (-32005, "too many large answers are being sent; try again in a moment");

/// The calls of a body that is a batch. None where it is not, or one that will be refused as a whole.
pub fn split(body: &Bytes, batch_max: usize) -> Option<Vec<Bytes>> {
    if body.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    let calls: Vec<&RawValue> = serde_json::from_slice(body).ok()?;
    if calls.is_empty() || calls.len() > batch_max {
        return None;
    }
    Some(calls.into_iter().map(|call| body.slice_ref(call.get().as_bytes())).collect())
}

pub struct Batch {
    pub app: App,
    pub owner: Arc<Owner>,
    pub chain: ChainId,
    pub calls: Vec<Bytes>,
    /// What its calls share.
    pub scope: Arc<RequestScope>,
}

/// An answer, with its bytes held.
struct Piece {
    bytes: Vec<u8>,
    held: Held,
}

impl Batch {
    pub async fn respond(self) -> Response {
        let scope = self.scope.clone();
        let mut pieces = Box::pin(self.pieces());
        let mut begun = Vec::with_capacity(1024);
        // Dropped with this function; by then the bytes are the response's own, which are counted.
        let mut held = Vec::new();
        while let Some(piece) = pieces.next().await {
            begun.extend_from_slice(if begun.is_empty() { b"[" } else { b"," });
            begun.extend_from_slice(&piece.bytes);
            held.push(piece.held);
            if begun.len() > STREAM_FROM_BYTES {
                return streamed(begun, held, pieces);
            }
        }
        // Nothing but notifications: JSON-RPC wants silence.
        if begun.is_empty() {
            return StatusCode::NO_CONTENT.into_response();
        }
        begun.push(b']');
        let response = ([(header::CONTENT_TYPE, "application/json")], begun).into_response();
        answered_from(response, &scope)
    }

    /// The answers in order; notifications have none. Past the limit every call is told so.
    fn pieces(self) -> impl Stream<Item = Piece> + Send + use<> {
        let Batch { app, owner, chain, calls, scope } = self;
        let bytes_max = app.parts.gateway.config.batch_bytes_max;
        let is_full = Arc::new(AtomicBool::new(false));
        let full = is_full.clone();
        let answers = stream::iter(calls).map(move |call| {
            let (app, full) = (app.clone(), full.clone());
            let asked = Asked { owner: owner.clone(), scope: scope.clone(), chain };
            async move { (answer(&app, &asked, &call, &full).await, call) }
        });
        let mut bytes = 0;
        answers.buffered(AT_ONCE).filter_map(move |(piece, call)| {
            let piece = piece.and_then(|piece| {
                bytes += piece.bytes.len();
                if bytes <= bytes_max {
                    return Some(piece);
                }
                is_full.store(true, Ordering::Relaxed);
                failure(&call, TOO_LARGE)
            });
            std::future::ready(piece)
        })
    }
}

fn streamed(
    begun: Vec<u8>,
    held: Vec<Held>,
    pieces: impl Stream<Item = Piece> + Send + 'static,
) -> Response {
    let first = stream::once(std::future::ready((Bytes::from(begun), held)));
    let rest = pieces.map(|mut piece| {
        piece.bytes.insert(0, b',');
        (Bytes::from(piece.bytes), vec![piece.held])
    });
    let last = stream::once(std::future::ready((Bytes::from_static(b"]"), Vec::new())));
    let mut taking = Vec::new();
    let body = first.chain(rest).chain(last).map(move |(bytes, held)| {
        // What was given out before is taken when the next is asked for.
        drop(std::mem::replace(&mut taking, held));
        Ok::<_, std::convert::Infallible>(bytes)
    });
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(body)).into_response()
}

/// Who asks, and what the calls of the batch share.
struct Asked {
    owner: Arc<Owner>,
    scope: Arc<RequestScope>,
    chain: ChainId,
}

/// None for a notification.
async fn answer(app: &App, asked: &Asked, call: &Bytes, is_full: &AtomicBool) -> Option<Piece> {
    if is_full.load(Ordering::Relaxed) {
        return failure(call, TOO_LARGE);
    }
    let Ok(mut held) = app.response_budget.hold(CALL_BYTES).await else {
        return failure(call, BUSY);
    };
    // In a batch, a list is no call: the gateway says so of whatever is no object.
    let text = if call.starts_with(b"[") { b"0".as_slice() } else { call };
    let limit = Duration::from_millis(app.parts.config.request_timeout_ms);
    let gateway = &app.parts.gateway;
    let requests = gateway.read(text).permitted(|method| asked.owner.methods.permits(method));
    let answering = gateway.answer_in_scope(asked.chain, requests, &asked.scope);
    let answered = tokio::time::timeout(limit, answering);
    let Ok(answer) = answered.await else { return failure(call, TOO_SLOW) };
    let bytes = answer?.into_vec();
    match app.response_budget.hold(bytes.len().saturating_sub(CALL_BYTES)).await {
        Ok(more) => held.merge(more),
        Err(_) => return failure(call, BUSY),
    }
    Some(Piece { bytes, held })
}

/// None for a notification.
fn failure(call: &[u8], (code, message): (i32, &str)) -> Option<Piece> {
    #[derive(Deserialize)]
    struct OnlyId<'a> {
        #[serde(borrow, default, deserialize_with = "present")]
        id: Option<&'a RawValue>,
    }
    // A null id is an id; `Option` alone would read it as none.
    fn present<'de, D: serde::Deserializer<'de>>(id: D) -> Result<Option<&'de RawValue>, D::Error> {
        <&RawValue>::deserialize(id).map(Some)
    }
    let id = match serde_json::from_slice::<OnlyId>(call) {
        Ok(OnlyId { id }) => id.map(RawValue::get)?,
        Err(_) => "null",
    };
    let is_id = id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
    let id = if is_id { id } else { "null" };
    let error = serde_json::json!({ "code": code, "message": message });
    let bytes = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes();
    Some(Piece { bytes, held: Held::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_split_into_its_calls_and_nothing_else_is() {
        let body = Bytes::from_static(b" [ {\"id\":1} , 7,[ ] ]\n");
        let calls = split(&body, 3).unwrap();
        assert_eq!(calls, [&b"{\"id\":1}"[..], b"7", b"[ ]"]);
        for (body, batch_max) in [("{}", 9), ("[]", 9), ("[1,2]", 1), ("[1,", 9), ("", 9)] {
            assert!(split(&Bytes::from(body), batch_max).is_none(), "{body}");
        }
    }

    #[test]
    fn a_failure_has_the_callers_id_and_a_notification_none() {
        let told = |call: &str| {
            failure(call.as_bytes(), TOO_SLOW).map(|piece| String::from_utf8(piece.bytes).unwrap())
        };
        assert!(
            told(r#"{"id":"a\"b"}"#)
                .unwrap()
                .starts_with(r#"{"jsonrpc":"2.0","id":"a\"b","error""#)
        );
        assert!(told(r#"{"id":{}}"#).unwrap().contains(r#""id":null"#));
        assert!(told("7").unwrap().contains(r#""id":null"#));
        assert!(told(r#"{"id":null}"#).unwrap().contains(r#""id":null"#));
        assert_eq!(told(r#"{"method":"x"}"#), None);
    }
}
