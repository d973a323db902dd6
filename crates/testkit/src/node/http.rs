//! JSON-RPC over HTTP: one call or a batch per request.

use super::{
    NodeState,
    call::{Call, Reply},
    responder::{BodyFault, TransportFault},
    rule::Fault,
};
use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use std::{io, sync::Arc};

pub(super) async fn post(State(node): State<Arc<NodeState>>, body: Bytes) -> Response {
    node.responder.faults.count_http();
    let (text, transport_fault) = answer(&node, &body);
    if !transport_fault.delay.is_zero() {
        tokio::time::sleep(transport_fault.delay).await;
    }
    if transport_fault.hang {
        node.stopped().await; // a silent node is silent until it is switched off
    }
    respond(text, &transport_fault)
}

fn answer(node: &NodeState, body: &[u8]) -> (Vec<u8>, TransportFault) {
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Array(requests)) => answer_batch(node, requests),
        Ok(request) => answer_one(node, request),
        Err(_) => {
            (Reply::error(-32700, "parse error").text(&Value::Null), TransportFault::default())
        }
    }
}

pub(super) fn answer_one(node: &NodeState, request: Value) -> (Vec<u8>, TransportFault) {
    match Call::parse(request) {
        Ok(call) => {
            let (reply, transport_fault) = node.responder.answer(&call);
            (reply.text(&call.id), transport_fault)
        }
        Err(text) => (text, TransportFault::default()),
    }
}

pub(super) fn answer_batch(node: &NodeState, requests: Vec<Value>) -> (Vec<u8>, TransportFault) {
    if let Some(reply) = batch_refusal(node, requests.len()) {
        return (reply.text(&Value::Null), TransportFault::default());
    }
    let mut out = vec![b'['];
    let mut whole = TransportFault::default();
    for (place, request) in requests.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let (text, transport_fault) = answer_one(node, request);
        out.extend(text);
        whole.merge(transport_fault);
    }
    out.push(b']');
    (out, whole)
}

fn batch_refusal(node: &NodeState, len: usize) -> Option<Reply> {
    if len == 0 {
        return Some(Reply::error(-32600, "empty batch"));
    }
    node.responder.faults.on_batch().iter().find_map(|fault| match fault {
        Fault::RefuseBatches => Some(Reply::error(-32600, "batch requests are not supported")),
        Fault::MaxBatch(max) if len > *max => Some(Reply::error(-32600, "batch too large")),
        _ => None,
    })
}

fn body(text: Vec<u8>, fault: Option<BodyFault>) -> Body {
    let Some(fault) = fault else { return Body::from(text) };
    let half = Bytes::copy_from_slice(text.get(..text.len() / 2).unwrap_or_default());
    let first = stream::once(std::future::ready(Ok::<_, io::Error>(half)));
    match fault {
        BodyFault::Endless => {
            let blanks = Bytes::from(vec![b' '; 64 << 10]);
            Body::from_stream(first.chain(stream::repeat_with(move || Ok(blanks.clone()))))
        }
        BodyFault::Stalled => Body::from_stream(first.chain(stream::pending())),
        BodyFault::Broken => {
            let broken = stream::once(std::future::ready(Err(io::Error::other("simulated"))));
            Body::from_stream(first.chain(broken))
        }
    }
}

fn respond(mut text: Vec<u8>, transport_fault: &TransportFault) -> Response {
    if let Some(seconds) = transport_fault.retry_after_s {
        let headers = [(header::RETRY_AFTER, seconds.to_string())];
        return (StatusCode::TOO_MANY_REQUESTS, headers, "too many requests").into_response();
    }
    if let Some(status) = transport_fault.http_status {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return (status, "simulated failure").into_response();
    }
    if transport_fault.truncate {
        text.truncate(text.len() / 2);
    }
    let mut response = Response::new(body(text, transport_fault.body));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
