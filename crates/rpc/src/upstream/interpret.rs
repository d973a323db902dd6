//! What a node's reply means: answers, a refused batch, or a failure.
//!
//! Pure. Nodes and gateways differ in how they refuse; all the differences are here.

use super::body::HttpReply;
use crate::call::{CallResult, RpcFailure, RpcFailureKind};
use crate::envelope::{self, Answer, Message};
use crate::error::Error;
use std::ops::Range;

#[derive(Debug)]
pub enum Exchange {
    /// In the order of the calls.
    Answers(Vec<CallResult>),
    /// The node takes no batches, or none of this size.
    BatchRefused { too_many: bool },
}

/// Statuses by which servers say that they do not like the shape or size of a request.
const SHAPE_REFUSED: [u16; 6] = [400, 405, 413, 415, 422, 501];

pub fn reply(reply: &HttpReply, ids: Range<u64>, label: &str) -> Result<Exchange, Error> {
    let status = reply.status;
    let upstream = label.to_owned();
    if status == 429 || (status == 503 && reply.retry_after.is_some()) {
        let retry_after = reply.retry_after;
        return Err(Error::RateLimited { upstream, retry_after, refusal: None });
    }
    let succeeded = (200..300).contains(&status);
    if matches!(status, 401 | 403) || (300..400).contains(&status) {
        return Err(Error::Http { upstream, status });
    }
    // Some nodes send JSON-RPC errors with a 4xx or 5xx status; those are answers.
    match envelope::parse(&reply.body) {
        Ok(parsed) => message(parsed, ids, label),
        Err(why) if succeeded => Err(Error::Malformed { upstream, why }),
        Err(_) if is_batch(&ids) && SHAPE_REFUSED.contains(&status) => {
            Ok(Exchange::BatchRefused { too_many: status == 413 })
        }
        Err(_) => Err(Error::Http { upstream, status }),
    }
}

pub fn message(message: Message, ids: Range<u64>, label: &str) -> Result<Exchange, Error> {
    let malformed = |why: String| Error::Malformed { upstream: label.to_owned(), why };
    let answers = match message {
        Message::Notification(_) => return Err(malformed("an unasked notification".to_owned())),
        Message::Single(answer) if is_batch(&ids) => match answer.result {
            Err(failure) => return refused_batch(&failure, label),
            Ok(_) => return Err(malformed("one answer to a batch".to_owned())),
        },
        // An error about a request that could not be read carries no id; with one call it is clear.
        Message::Single(Answer { id: None, result: result @ Err(_) }) => {
            vec![Answer { id: Some(ids.start), result }]
        }
        Message::Single(answer) => vec![answer],
        Message::Batch(answers) => answers,
    };
    if is_batch(&ids) && (answers.len() as u64) < ids.end - ids.start {
        // geth refuses a large batch with one error in an array.
        if let Some(Err(failure)) = answers.iter().map(|a| &a.result).find(|r| r.is_err()) {
            return refused_batch(failure, label);
        }
    }
    let answers = envelope::in_order(answers, ids).map_err(malformed)?;
    let mut refusals = answers.iter().filter_map(|answer| answer.as_ref().err());
    if let Some(failure) = refusals.find(|it| it.kind() == RpcFailureKind::RateLimited) {
        return Err(slow_down(failure, label));
    }
    Ok(Exchange::Answers(answers))
}

/// An error on a socket that does not say what it is about. It is nobody's answer: whoever has a request
/// under way there asks again. Where all of these are batches it is taken as a refusal of batches, which
/// costs nothing but their size.
pub fn unattributed(
    failure: &RpcFailure,
    ids: Range<u64>,
    only_batches: bool,
    label: &str,
) -> Result<Exchange, Error> {
    let about_batches = only_batches || failure.message.to_ascii_lowercase().contains("batch");
    if is_batch(&ids) && about_batches {
        return refused_batch(failure, label);
    }
    if failure.kind() == RpcFailureKind::RateLimited {
        // Not in its own words: they may be about somebody else's call.
        return Err(Error::RateLimited {
            upstream: label.to_owned(),
            retry_after: None,
            refusal: None,
        });
    }
    let source = format!("an error that names no request: {failure}").into();
    Err(Error::Interrupted { upstream: label.to_owned(), source, is_counted: false })
}

fn slow_down(failure: &RpcFailure, label: &str) -> Error {
    let refusal = Some(Box::new(failure.clone()));
    Error::RateLimited { upstream: label.to_owned(), retry_after: None, refusal }
}

fn refused_batch(failure: &RpcFailure, label: &str) -> Result<Exchange, Error> {
    let text = failure.message.to_ascii_lowercase();
    let about_size = ["too large", "limit", "exceed", "too many", "size", "maximum"];
    let about_batch = text.contains("batch");
    if failure.kind() == RpcFailureKind::RateLimited && !about_batch {
        return Err(slow_down(failure, label));
    }
    Ok(Exchange::BatchRefused { too_many: about_size.iter().any(|part| text.contains(part)) })
}

fn is_batch(ids: &Range<u64>) -> bool {
    ids.end - ids.start > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::time::Duration;

    fn read(status: u16, body: &'static str, calls: u64) -> Result<Exchange, Error> {
        let retry_after = (status == 503).then_some(Duration::from_secs(1));
        let body = Bytes::from_static(body.as_bytes());
        reply(&HttpReply { status, retry_after, body }, 1..1 + calls, "node")
    }

    #[test]
    fn refused_batches_are_told_from_failures() {
        for (status, body, too_many) in [
            (200, r#"{"id":null,"error":{"code":-32600,"message":"Batch size too large"}}"#, true),
            (200, r#"[{"id":1,"error":{"code":-32600,"message":"batch too large"}}]"#, true),
            (200, r#"{"error":{"code":-32005,"message":"batch limit 10 exceeded"}}"#, true),
            (
                200,
                r#"{"error":{"code":-32600,"message":"batch requests are not supported"}}"#,
                false,
            ),
            (400, "Bad Request", false),
            (413, "<html>", true),
        ] {
            match read(status, body, 3) {
                Ok(Exchange::BatchRefused { too_many: seen }) => {
                    assert_eq!(seen, too_many, "{body}")
                }
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_error_without_an_id_is_nobodys_answer() {
        let failure = |text: &'static str| RpcFailure::parse(Bytes::from_static(text.as_bytes()));
        let odd = failure(r#"{"code":-32700,"message":"parse error"}"#);
        let batch = failure(r#"{"code":-32600,"message":"batch too large"}"#);
        let busy = failure(r#"{"code":-32005,"message":"x"}"#);
        for (failure, calls, only_batches, expected) in [
            (&odd, 1, false, "interrupted"),
            (&odd, 3, false, "interrupted"),
            (&odd, 3, true, "batch_refused"),
            (&batch, 1, false, "interrupted"),
            (&batch, 3, false, "batch_refused"),
            (&busy, 1, false, "rate_limited"),
            (&busy, 3, true, "rate_limited"),
        ] {
            let outcome = match unattributed(failure, 1..1 + calls, only_batches, "node") {
                Ok(Exchange::Answers(_)) => "answers",
                Ok(Exchange::BatchRefused { .. }) => "batch_refused",
                Err(error) => error.outcome(),
            };
            assert_eq!(outcome, expected, "{failure} {calls} {only_batches}");
        }
    }

    #[test]
    fn failures_are_named() {
        let outcome = |status, body, calls| match read(status, body, calls) {
            Ok(Exchange::Answers(_)) => "answers",
            Ok(Exchange::BatchRefused { .. }) => "batch_refused",
            Err(error) => error.outcome(),
        };
        for (status, body, calls, expected) in [
            (200, r#"{"id":1,"result":null}"#, 1, "answers"),
            (200, r#"[{"id":1,"result":null}]"#, 1, "answers"),
            (500, r#"{"id":1,"error":{"code":3,"message":"execution reverted"}}"#, 1, "answers"),
            (400, r#"{"id":null,"error":{"code":-32602,"message":"invalid"}}"#, 1, "answers"),
            (200, r#"{"id":2,"result":null}"#, 1, "malformed"),
            (200, r#"{"id":1,"result":1}"#, 2, "malformed"),
            (200, r#"[{"id":1,"result":1}]"#, 2, "malformed"),
            (200, "<html>", 1, "malformed"),
            (502, "<html>", 2, "http_error"),
            (401, r#"{"id":1,"error":{"code":1,"message":"no"}}"#, 1, "http_error"),
            (302, "", 1, "http_error"),
            (429, "", 1, "rate_limited"),
            (503, "", 1, "rate_limited"),
            (200, r#"{"id":1,"error":{"code":-32005,"message":"x"}}"#, 1, "rate_limited"),
            (200, r#"{"error":{"code":-32005,"message":"x"}}"#, 2, "rate_limited"),
        ] {
            assert_eq!(outcome(status, body, calls), expected, "{status} {body}");
        }
    }
}
