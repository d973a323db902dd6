//! What an operator may say about a chain's nodes, with the defaults.
//!
//! URLs and header values can hold keys: `Debug` and `Serialize` show them redacted, so a printed
//! configuration never tells a secret.

use crate::redact::redacted;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// One node. In a configuration file either a table or just its URL as a string.
#[derive(Clone, Default, PartialEq, Serialize)]
pub struct UpstreamConfig {
    /// `http(s)://` or `ws(s)://`; with the latter, requests go over the socket, too.
    #[serde(serialize_with = "hide_url")]
    pub url: String,
    /// Where to subscribe to new heads; without it (and without a ws `url`) heads are polled.
    #[serde(serialize_with = "hide_some_url", skip_serializing_if = "Option::is_none")]
    pub ws_url: Option<String>,
    /// Shown in status, logs and metrics instead of the redacted URL.
    pub name: Option<String>,
    pub max_concurrency: Option<usize>,
    pub requests_per_second: Option<f64>,
    pub max_batch: Option<usize>,
    /// Sent with every request, e.g. `authorization`.
    #[serde(serialize_with = "hide_values")]
    pub headers: BTreeMap<String, String>,
    pub timeout_ms: Option<u64>,
    /// Which trace method to use; probed when not said.
    pub traces: TraceChoice,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceChoice {
    #[default]
    Auto,
    DebugTraceBlock,
    TraceBlock,
    None,
}

/// How a chain's upstreams are used together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoolConfig {
    pub timeout_ms: u64,
    /// The largest body that ingest reads; a batch that is larger is asked for in parts.
    pub response_bytes_max: usize,
    /// The largest answer to a client's call.
    pub client_response_bytes_max: usize,
    /// Answers in memory at once, over all upstreams: what ingest asked for, what clients did.
    pub ingest_bytes_in_flight_max: usize,
    pub client_bytes_in_flight_max: usize,
    pub max_batch: usize,
    pub max_concurrency_per_upstream: usize,
    /// How long a left-out upstream waits for its next trial: first and longest wait.
    pub backoff_min_ms: u64,
    pub backoff_max_ms: u64,
    /// An upstream further behind the best head than this is left out.
    pub lag_blocks_max: u64,
    /// How often heads are polled; when absent, the chain's pace (`PoolOptions::poll_interval`).
    pub poll_ms: Option<u64>,
    /// How long a client's call may wait for its turn at the nodes. One that would wait longer is refused at once.
    pub client_wait_ms: u64,
    /// How many upstreams one fetch may try before it gives up.
    pub attempts_max: u32,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            timeout_ms: 20_000,
            response_bytes_max: 256 << 20,
            client_response_bytes_max: 64 << 20,
            ingest_bytes_in_flight_max: 1 << 30,
            client_bytes_in_flight_max: 256 << 20,
            max_batch: 20,
            max_concurrency_per_upstream: 64,
            backoff_min_ms: 1_000,
            backoff_max_ms: 60_000,
            lag_blocks_max: 10,
            poll_ms: None,
            client_wait_ms: 8_000,
            attempts_max: 4,
        }
    }
}

impl UpstreamConfig {
    pub fn from_url(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    pub(crate) fn timeout(&self, pool: &PoolConfig) -> Duration {
        Duration::from_millis(self.timeout_ms.unwrap_or(pool.timeout_ms).max(1))
    }
}

/// The table form. Apart from `UpstreamConfig` so that the string form can share one type and
/// unknown keys are still named in the error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    url: String,
    ws_url: Option<String>,
    name: Option<String>,
    max_concurrency: Option<usize>,
    requests_per_second: Option<f64>,
    max_batch: Option<usize>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    traces: TraceChoice,
}

impl From<Table> for UpstreamConfig {
    fn from(t: Table) -> Self {
        Self {
            url: t.url,
            ws_url: t.ws_url,
            name: t.name,
            max_concurrency: t.max_concurrency,
            requests_per_second: t.requests_per_second,
            max_batch: t.max_batch,
            headers: t.headers,
            timeout_ms: t.timeout_ms,
            traces: t.traces,
        }
    }
}

impl<'de> Deserialize<'de> for UpstreamConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UrlOrTable;
        impl<'de> Visitor<'de> for UrlOrTable {
            type Value = UpstreamConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node's URL or a table with `url`")
            }

            fn visit_str<E>(self, url: &str) -> Result<UpstreamConfig, E> {
                Ok(UpstreamConfig::from_url(url))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UpstreamConfig, A::Error> {
                Table::deserialize(MapAccessDeserializer::new(map)).map(Into::into)
            }
        }
        deserializer.deserialize_any(UrlOrTable)
    }
}

impl fmt::Debug for UpstreamConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamConfig")
            .field("url", &redacted(&self.url))
            .field("ws_url", &self.ws_url.as_deref().map(redacted))
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn hide_url<S: Serializer>(url: &str, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&redacted(url))
}

fn hide_some_url<S: Serializer>(url: &Option<String>, s: S) -> Result<S::Ok, S::Error> {
    url.as_deref().map(redacted).serialize(s)
}

fn hide_values<S: Serializer>(headers: &BTreeMap<String, String>, s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(headers.keys().map(|name| (name, "***")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_a_string_or_a_table() {
        let list: Vec<UpstreamConfig> = serde_json::from_str(
            r#"["http://a:1", {"url": "wss://b/key", "name": "b", "max_batch": 1, "traces": "trace_block"}]"#,
        )
        .unwrap();
        assert_eq!(list[0], UpstreamConfig::from_url("http://a:1"));
        assert_eq!(list[1].max_batch, Some(1));
        assert_eq!(list[1].traces, TraceChoice::TraceBlock);
    }

    #[test]
    fn an_unknown_key_is_named() {
        let wrong = r#"{"url": "http://a", "max_bach": 1}"#;
        let error = serde_json::from_str::<UpstreamConfig>(wrong).unwrap_err().to_string();
        assert!(error.contains("max_bach"), "{error}");
        assert!(serde_json::from_str::<PoolConfig>(r#"{"lag": 1}"#).is_err());
        assert_eq!(serde_json::from_str::<PoolConfig>("{}").unwrap(), PoolConfig::default());
    }

    #[test]
    fn printing_a_configuration_tells_no_secret() {
        let mut config = UpstreamConfig::from_url("https://user:hunter2@node.example/v3/hunter2");
        config.ws_url = Some("wss://node.example/hunter2".into());
        config.headers.insert("authorization".into(), "Bearer hunter2".into());
        let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("https://node.example"), "{shown}");
    }
}
