//! What the server can be asked, in OpenAPI 3.1, at `/openapi.json`.
//!
//! In: the files of `crates/api/openapi`, one for each host, written by hand. Out: one document of the hosts that a listener
//! serves. A test holds them against the routes, another against real answers.

#[cfg(test)]
mod tests;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value};

use crate::app::App;
use crate::router::Hosts;

const SHARED: &str = include_str!("../../openapi/shared.json");
const OPERATORS: &str = include_str!("../../openapi/operators.json");
const DATA: &str = include_str!("../../openapi/data.json");
const NODE_RPC: &str = include_str!("../../openapi/node_rpc.json");
const STREAMS: &str = include_str!("../../openapi/streams.json");
const ADMIN: &str = include_str!("../../openapi/admin.json");

/// The document as it is sent.
#[derive(Clone)]
pub struct Document(Bytes);

impl Document {
    pub fn new(app: &App, hosts: Hosts) -> Self {
        let streams = hosts.streams && app.parts.streams.is_some();
        Self::of(Hosts { streams, ..hosts }, app.parts.version)
    }

    fn of(hosts: Hosts, version: &str) -> Self {
        Document(joined(hosts, version).to_string().into())
    }

    /// The same for all, and without a secret: no key is asked for.
    pub fn response(&self) -> Response {
        let json = HeaderValue::from_static("application/json");
        ([(header::CONTENT_TYPE, json)], self.0.clone()).into_response()
    }
}

/// The files of these hosts as one document.
fn joined(hosts: Hosts, version: &str) -> Value {
    let mut document = read(SHARED);
    let parts = [
        (OPERATORS, true),
        (DATA, hosts.data),
        (NODE_RPC, hosts.rpc),
        (STREAMS, hosts.streams),
        (ADMIN, hosts.admin),
    ];
    for (part, _) in parts.into_iter().filter(|(_, is_served)| *is_served) {
        add(&mut document, part);
    }
    if let Some(info) = document.get_mut("info").and_then(Value::as_object_mut) {
        info.insert("version".to_owned(), version.into());
    }
    document
}

fn add(document: &mut Value, part: &str) {
    let mut part = read(part);
    for (from, to) in [("/paths", "/paths"), ("/schemas", "/components/schemas")] {
        let more = part.pointer_mut(from).and_then(Value::as_object_mut).map(std::mem::take);
        if let Some(into) = document.pointer_mut(to).and_then(Value::as_object_mut) {
            into.extend(more.unwrap_or_default());
        }
    }
    let tags = part.get_mut("tags").map(Value::take);
    if let (Some(Value::Array(more)), Some(Value::Array(tags))) = (tags, document.get_mut("tags")) {
        tags.extend(more);
    }
}

/// Compiled in, and read by a test: what is no JSON never gets this far.
fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Map::new().into())
}
