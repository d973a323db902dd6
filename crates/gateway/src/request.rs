//! Reading JSON-RPC requests: one or a batch, each right or wrong by itself.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::{Answer, Failure};
use crate::methods::{Method, cost, find};
use crate::plain_request;

/// Longer names are no method's.
pub const METHOD_BYTES_MAX: usize = 128;

/// A request body that was read, and may be all wrong.
pub struct Requests<'a>(pub(crate) Result<Body<'a>, Failure>);

impl Requests<'_> {
    /// Compute units: the sum over a batch. What cannot be read costs as little as anything can.
    pub fn weight(&self) -> u32 {
        let one =
            |item: &Item| item.as_ref().map_or(1, |request| cost(&request.method, request.listed));
        match &self.0 {
            Err(_) => 1,
            Ok(Body::One(item)) => one(item),
            Ok(Body::Batch(items)) => items.iter().map(one).sum(),
        }
    }
}

impl Requests<'_> {
    /// Whether that holds of the methods of all its calls.
    pub fn all(&self, holds: impl Fn(&str) -> bool) -> bool {
        let one = |item: &Item<'_>| {
            item.as_ref().is_ok_and(|request| holds(&request.method)) || item.is_err()
        };
        match &self.0 {
            Ok(Body::One(item)) => one(item),
            Ok(Body::Batch(items)) => items.iter().all(one),
            Err(_) => true,
        }
    }

    /// Calls of methods that whoever asks may not use are refused.
    pub fn permitted(mut self, permits: impl Fn(&str) -> bool) -> Self {
        let judge = |item: &mut Item<'_>| {
            if let Ok(request) = item
                && !permits(&request.method)
            {
                let failure = Failure::not_permitted(&request.method);
                *item =
                    Err(Refused { id: request.id, is_notification: request.id.is_none(), failure });
            }
        };
        match &mut self.0 {
            Ok(Body::One(item)) => judge(item),
            Ok(Body::Batch(items)) => items.iter_mut().for_each(judge),
            Err(_) => {}
        }
        self
    }

    /// The answer that refuses all of it, under the caller's id where it is one call.
    pub fn refused(&self, code: i64, why: &str) -> Vec<u8> {
        let id = match &self.0 {
            Ok(Body::One(Ok(request))) => request.id,
            _ => None,
        };
        let mut answer = Answer::default();
        answer.write(id.unwrap_or("null"), Err(Failure::new(code, why)));
        answer.into_vec()
    }
}

/// A call that can be answered.
#[derive(Debug)]
pub struct Request<'a> {
    /// As the client wrote it; none for a notification, which wants no answer.
    pub id: Option<&'a str>,
    pub method: Cow<'a, str>,
    /// Its row of the table, if it has one.
    pub listed: Option<&'static Method>,
    /// A JSON array, or nothing.
    pub params: Option<&'a RawValue>,
}

/// What a body holds.
pub enum Body<'a> {
    One(Item<'a>),
    Batch(Vec<Item<'a>>),
}

pub type Item<'a> = Result<Request<'a>, Refused<'a>>;

/// A request that is none, with the id to answer under.
pub struct Refused<'a> {
    pub id: Option<&'a str>,
    /// It was a call in all but that, and wants no answer.
    pub is_notification: bool,
    pub failure: Failure,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

pub fn read(body: &[u8], batch_max: usize) -> Result<Body<'_>, Failure> {
    match plain_request::read(body) {
        Some(request) => Ok(Body::One(Ok(request))),
        None => read_any_form(body, batch_max),
    }
}

/// What is wrong with it is said here.
pub fn read_any_form(body: &[u8], batch_max: usize) -> Result<Body<'_>, Failure> {
    let whole: &RawValue = serde_json::from_slice(body).map_err(|e| Failure::parse(&e))?;
    let text = whole.get();
    if !text.starts_with('[') {
        return Ok(Body::One(item(text)));
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| Failure::parse(&e))?;
    if items.is_empty() {
        return Err(Failure::invalid("an empty batch"));
    }
    if items.len() > batch_max {
        let why = format!("a batch of {} calls; at most {batch_max} are taken", items.len());
        return Err(Failure::invalid(&why));
    }
    Ok(Body::Batch(items.into_iter().map(|i| item(i.get())).collect()))
}

fn refuse<'a>(id: Option<&'a str>, why: &str) -> Item<'a> {
    Err(Refused { id, is_notification: false, failure: Failure::invalid(why) })
}

fn item(text: &str) -> Item<'_> {
    if !text.starts_with('{') {
        return refuse(None, "a call must be a JSON object");
    }
    match serde_json::from_str::<Envelope>(text) {
        Ok(envelope) => envelope.item(text),
        Err(error) => refuse(None, &not_an_envelope(&error)),
    }
}

impl<'a> Envelope<'a> {
    /// `text`: what it was read from.
    fn item(self, text: &'a str) -> Item<'a> {
        // A null id is a real id in JSON-RPC 2.0, though an unwise one; only a missing one asks for
        // silence. `Option` reads null as missing, so look at the text.
        let id = match self.id.map(RawValue::get) {
            Some(id) if is_id(id) => Some(id),
            Some(_) => return refuse(None, "id must be a string, a number or null"),
            None if has_null_id(text) => Some("null"),
            None => None,
        };
        if self.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return refuse(id.or(Some("null")), "jsonrpc must be \"2.0\"");
        }
        let method = self.method.and_then(|m| serde_json::from_str::<String>(m.get()).ok());
        let Some(method) = method.filter(|m| !m.is_empty() && m.len() <= METHOD_BYTES_MAX) else {
            return refuse(id.or(Some("null")), "method must be a string");
        };
        let params = self.params.filter(|p| p.get() != "null");
        if params.is_some_and(|p| !p.get().starts_with('[') && !p.get().starts_with('{')) {
            return refuse(id.or(Some("null")), "params must be an array");
        }
        Ok(Request { id, listed: find(&method), method: Cow::Owned(method), params })
    }
}

/// The text is a JSON object, so there is little that can be wrong: mostly a field that stands there twice.
fn not_an_envelope(error: &serde_json::Error) -> String {
    let why = error.to_string();
    match why.split('`').nth(1).filter(|_| why.starts_with("duplicate field")) {
        Some(name) => format!("{name} is given twice"),
        None => "a call must be a JSON object".to_owned(),
    }
}

fn is_id(text: &str) -> bool {
    text.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

fn has_null_id(text: &str) -> bool {
    #[derive(Deserialize)]
    struct OnlyId {
        #[serde(default = "absent")]
        id: serde_json::Value,
    }
    fn absent() -> serde_json::Value {
        serde_json::Value::Bool(false)
    }
    serde_json::from_str::<OnlyId>(text).is_ok_and(|only| only.id.is_null())
}
