//! The JSON-RPC 2.0 envelope: requests out, answers in.
//!
//! Results are not looked into: each is cut out of the body as a view, and a large one is not even
//! checked to be well-formed (`json_members`). Ids are our own numbers; answers may come in any order and are
//! matched by id.

use crate::call::{Call, CallResult, RawAnswer, RpcFailure};
use crate::json_members::{self, SeenMembers};
use bytes::Bytes;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One answer of a body. `id` is absent when the node could not tell whose answer it is.
#[derive(Debug)]
pub struct Answer {
    pub id: Option<u64>,
    pub result: CallResult,
}

/// What a body or a WebSocket message holds.
#[derive(Debug)]
pub enum Message {
    Single(Answer),
    Batch(Vec<Answer>),
    /// `eth_subscription`: the notified value.
    Notification(Bytes),
}

/// The request text. One call goes as an object, several as a batch with consecutive ids.
pub fn encode(calls: &[Call], first_id: u64) -> String {
    let room: usize = calls.iter().map(|c| c.method.len() + c.params.len() + 64).sum();
    let mut text = String::with_capacity(room + 2);
    if calls.len() != 1 {
        text.push('[');
    }
    for (id, call) in (first_id..).zip(calls) {
        if id != first_id {
            text.push(',');
        }
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        text.push_str(itoa::Buffer::new().format(id));
        text.push_str(r#","method":"#);
        push_method(&mut text, &call.method);
        text.push_str(r#","params":"#);
        // JSON already.
        text.push_str(&call.params);
        text.push('}');
    }
    if calls.len() != 1 {
        text.push(']');
    }
    text
}

/// A method can come from a gateway's client: it is escaped where it is none that anybody has.
fn push_method(text: &mut String, method: &str) {
    if method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        text.push('"');
        text.push_str(method);
        text.push('"');
    } else {
        text.push_str(&serde_json::Value::from(method).to_string());
    }
}

/// Bodies from here on are skimmed first.
const LARGE_BYTES: usize = 32 << 10;

/// Reads a body. The error says what is wrong with it, never what it says.
pub fn parse(body: &Bytes) -> Result<Message, String> {
    let malformed = |e: String| format!("{e} in a body of {} bytes", body.len());
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if *first.ok_or_else(|| "an empty body".to_owned())? == b'[' {
        let list = batch(body).map_err(malformed)?;
        let answers = list.iter().map(|envelope| envelope.answer(body));
        return Ok(Message::Batch(answers.collect::<Result<_, _>>()?));
    }
    let envelope = single(body).map_err(malformed)?;
    match envelope.notified() {
        Some(value) => Ok(Message::Notification(body.slice_ref(value))),
        None => Ok(Message::Single(envelope.answer(body)?)),
    }
}

fn single(text: &[u8]) -> Result<Envelope<'_>, String> {
    if text.len() >= LARGE_BYTES {
        // Most nodes write the result last; then its end need not be looked for.
        if text.trim_ascii_end().ends_with(b"}")
            && let Some(members) = json_members::object_until(text, b"result")
            && let envelope = Envelope::of(&members)?
            && envelope.id.is_some()
            && envelope.error.is_none()
        {
            return Ok(Envelope { is_uncut: true, ..envelope });
        }
        if let Some(members) = json_members::object(text) {
            return Envelope::of(&members);
        }
    }
    // As text, so that none of its parts is looked at again for being one.
    let strict = match std::str::from_utf8(text) {
        Ok(text) => serde_json::from_str::<Strict<'_>>(text),
        // The same, and says where.
        Err(_) => serde_json::from_slice::<Strict<'_>>(text),
    };
    Ok(Envelope::from(strict.map_err(|e| e.to_string())?))
}

fn batch(text: &[u8]) -> Result<Vec<Envelope<'_>>, String> {
    if text.len() >= LARGE_BYTES
        && let Some(list) = json_members::objects(text)
    {
        return list.iter().map(|members| Envelope::of(members)).collect();
    }
    let list: Vec<Strict<'_>> = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    Ok(list.into_iter().map(Envelope::from).collect())
}

/// Puts a batch's answers into the order of its calls: every id once, none foreign.
pub fn in_order(
    answers: Vec<Answer>,
    ids: std::ops::Range<u64>,
) -> Result<Vec<CallResult>, String> {
    let wanted = ids.end - ids.start;
    let mut slots: Vec<Option<CallResult>> = (0..wanted).map(|_| None).collect();
    let count = answers.len();
    for answer in answers {
        let place = answer.id.and_then(|id| id.checked_sub(ids.start));
        let slot = place.and_then(|at| slots.get_mut(usize::try_from(at).ok()?));
        match slot {
            Some(slot @ None) => *slot = Some(answer.result),
            Some(Some(_)) => return Err("two answers with one id".to_owned()),
            None => return Err("an answer with an id that was not asked".to_owned()),
        }
    }
    let whole: Option<Vec<CallResult>> = slots.into_iter().collect();
    whole.ok_or_else(|| format!("{count} answers to {wanted} calls"))
}

/// An envelope whose every part was read as JSON, and none of which is there twice.
#[derive(Deserialize)]
struct Strict<'a> {
    #[serde(default, rename = "jsonrpc")]
    _jsonrpc: Option<IgnoredAny>,
    #[serde(default, rename = "method")]
    _method: Option<IgnoredAny>,
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    // `null` is a result, so it must not become `None`.
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The texts of an envelope's parts.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    /// What follows the result in its envelope is still behind it.
    is_uncut: bool,
    /// All of it was read as JSON.
    is_checked: bool,
    /// What was read of it.
    seen: SeenMembers,
}

impl<'a> From<Strict<'a>> for Envelope<'a> {
    fn from(strict: Strict<'a>) -> Self {
        let text = |raw: Option<&'a RawValue>| raw.map(|raw| raw.get().as_bytes());
        Envelope {
            id: text(strict.id),
            result: text(strict.result),
            error: text(strict.error),
            params: text(strict.params),
            is_uncut: false,
            is_checked: true,
            seen: SeenMembers::default(),
        }
    }
}

impl<'a> Envelope<'a> {
    fn of(members: &[json_members::JsonMember<'a>]) -> Result<Self, String> {
        let mut envelope = Envelope::default();
        for (name, value) in members {
            if envelope.seen.is_repeated(name) {
                return Err(format!("\"{}\" is there twice", String::from_utf8_lossy(name)));
            }
            let given = Some(*value).filter(|value| *value != b"null");
            match name.as_ref() {
                b"id" => envelope.id = given,
                b"result" => envelope.result = Some(value),
                b"error" => envelope.error = given,
                b"params" => envelope.params = given,
                _ => {}
            }
        }
        Ok(envelope)
    }

    fn answer(&self, body: &Bytes) -> Result<Answer, String> {
        // Some nodes and gateways write the id back as a string.
        let id = self.id.and_then(|text| std::str::from_utf8(text).ok());
        let id = id.and_then(|text| text.trim_matches('"').parse().ok());
        let result = match (self.error, self.result) {
            (Some(error), _) => Err(RpcFailure::parse(body.slice_ref(error))),
            (None, Some(result)) if self.is_uncut => {
                Ok(RawAnswer::uncut(body.slice_ref(result), self.seen))
            }
            (None, Some(result)) if self.is_checked => {
                Ok(RawAnswer::checked(body.slice_ref(result)))
            }
            (None, Some(result)) => Ok(RawAnswer::new(body.slice_ref(result))),
            (None, None) => return Err("neither result nor error".to_owned()),
        };
        Ok(Answer { id, result })
    }

    fn notified(&self) -> Option<&'a [u8]> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            result: &'a RawValue,
        }
        if self.result.is_some() || self.error.is_some() {
            return None;
        }
        let params = serde_json::from_slice::<Params<'a>>(self.params?).ok()?;
        Some(params.result.get().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(text: &'static str) -> Result<Vec<CallResult>, String> {
        match parse(&Bytes::from_static(text.as_bytes()))? {
            Message::Batch(answers) => in_order(answers, 7..9),
            other => Err(format!("not a batch: {other:?}")),
        }
    }

    #[test]
    fn one_call_is_an_object_and_several_are_a_batch() {
        let calls = [Call::chain_id(), Call::block_by_number(16, true)];
        assert_eq!(
            encode(&calls[..1], 5),
            r#"{"jsonrpc":"2.0","id":5,"method":"eth_chainId","params":[]}"#
        );
        let text = encode(&calls, 5);
        assert!(
            text.starts_with('[')
                && text.contains(r#""id":6"#)
                && text.contains(r#"["0x10",true]"#)
        );
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn a_method_cannot_break_out_of_its_string() {
        let odd = Call::new("a\",\"id\":9", RawValue::from_string("[]".into()).unwrap());
        let back: serde_json::Value = serde_json::from_str(&encode(&[odd], 1)).unwrap();
        assert_eq!(back["id"], 1);
    }

    #[test]
    fn answers_are_matched_by_id_in_any_order() {
        let answers =
            batch(r#" [{"id":8,"result":null},{"id":"7","error":null,"result":{"a":1}}]"#).unwrap();
        assert_eq!(answers[0].as_ref().unwrap().json(), br#"{"a":1}"#);
        assert!(answers[1].as_ref().unwrap().is_null());
    }

    #[test]
    fn a_result_is_a_view_into_the_body() {
        let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":[1, 2]}"#);
        let Message::Single(answer) = parse(&body).unwrap() else { panic!("not single") };
        let result = answer.result.unwrap().into_bytes();
        assert_eq!(result.as_ptr() as usize - body.as_ptr() as usize, 33);
    }

    #[test]
    fn large_bodies_give_the_same_answers() {
        let filler = "ab".repeat(LARGE_BYTES);
        let text = format!(
            r#"[{{"jsonrpc":"2.0","id":8,"result":["{filler}","\\"]}},{{"error":{{"code":-1,"message":"{filler}"}},"id":"7"}}]"#
        );
        let Message::Batch(answers) = parse(&Bytes::from(text)).unwrap() else {
            panic!("no batch")
        };
        let answers = in_order(answers, 7..9).unwrap();
        assert_eq!(answers[0].as_ref().unwrap_err().code, -1);
        assert!(answers[1].as_ref().unwrap().json().ends_with(br#""\\"]"#));
        let text = format!(r#"{{"id":1,"error":null,"result":{{"a":"{filler}"}}}}"#);
        let Message::Single(answer) = parse(&Bytes::from(text)).unwrap() else {
            panic!("no answer")
        };
        assert_eq!(answer.result.unwrap().json().len(), filler.len() + 8);
        assert!(parse(&Bytes::from(format!(r#"[{{"id":1,"result":["{filler}"}}]"#))).is_err());
    }

    #[test]
    fn the_end_of_a_large_result_is_found_when_it_is_read() {
        let filler = "ab".repeat(LARGE_BYTES);
        let answer = |tail: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":["{filler}","\\"]{tail}"#);
            match parse(&Bytes::from(text)) {
                Ok(Message::Single(answer)) => answer.result.ok(),
                _ => None,
            }
        };
        let length = |answer: &RawAnswer| answer.read(|reader| Some(reader.value()?.len()));
        for tail in ["}", " } \n", r#","meta":{"a":[1]}}"#, r#","error":null}"#] {
            let answer = answer(tail).unwrap();
            assert!(answer.json().ends_with(br#""\\"]"#), "{tail}");
            assert_eq!(length(&answer), Some(answer.json().len()), "{tail}");
            assert_eq!(answer.clone().into_bytes(), answer.json());
            assert!(answer.parse::<Vec<String>>().is_ok());
        }
        for tail in [
            "",
            "]}",
            r#","meta"}"#,
            "}}",
            r#","error":{"code":1}}"#,
            r#","result":[]}"#,
            r#","id":1}"#,
            r#","error":null,"error":null}"#,
        ] {
            let read = answer(tail).and_then(|answer| length(&answer));
            assert_eq!(read, None, "{tail}");
            let parsed = answer(tail).and_then(|answer| answer.parse::<Vec<String>>().ok());
            assert_eq!(parsed, None, "{tail}");
        }
    }

    #[test]
    fn a_part_of_an_envelope_that_is_there_twice_is_refused_and_named() {
        let filler = format!(r#""{}""#, "ab".repeat(LARGE_BYTES));
        for large in ["", &filler] {
            let pad = if large.is_empty() { String::new() } else { format!(r#","pad":{large}"#) };
            for (name, twice) in [
                ("result", r#""id":7,"result":1,"result":2"#),
                ("id", r#""id":7,"result":1,"id":8"#),
                ("jsonrpc", r#""jsonrpc":"2.0","jsonrpc":"1.0","id":7,"result":1"#),
                ("error", r#""id":7,"error":null,"error":{"code":1}"#),
                (
                    "params",
                    r#""method":"eth_subscription","params":{"result":1},"params":{"result":2}"#,
                ),
                ("method", r#""method":"eth_subscription","method":"x","params":{"result":1}"#),
            ] {
                for text in [format!("{{{twice}{pad}}}"), format!("[{{{twice}{pad}}}]")] {
                    let why = parse(&Bytes::from(text)).unwrap_err();
                    assert!(why.contains(name), "{name}: {why}");
                }
            }
            // Of what is none of its parts nothing is asked.
            let odd = format!(r#"{{"id":7,"meta":1,"meta":2,"result":1{pad}}}"#);
            assert!(parse(&Bytes::from(odd)).is_ok());
        }
    }

    #[test]
    fn broken_bodies_are_refused_with_a_reason() {
        for text in [
            "",
            "  ",
            "<html>",
            r#"{"id":1,"result":"#,
            r#"{"id":1}"#,
            r#"[{"id":7,"result":1}]"#,
            r#"[{"id":7,"result":1},{"id":7,"result":1}]"#,
            r#"[{"id":7,"result":1},{"id":9,"result":1}]"#,
            r#"[{"id":7,"result":1},{"id":-1,"result":1}]"#,
            "\u{7b}\"id\":1,\"result\":\"\u{0}\"}",
        ] {
            assert!(batch(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_notification_is_told_from_an_answer() {
        let text = br#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":{"n":1}}}"#;
        let message = parse(&Bytes::from_static(text)).unwrap();
        assert!(matches!(message, Message::Notification(value) if value.as_ref() == br#"{"n":1}"#));
    }
}
