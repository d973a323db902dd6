//! A webhook receiver that fails as real ones do, and keeps what it took: by stream and number.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// One delivery as it was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    pub digest: String,
    pub previous: String,
    pub body: Value,
    /// By `x-traces`.
    pub traces_missing: bool,
    /// By `x-amends`.
    pub amends: Option<u64>,
    /// As it was first sent.
    pub text: String,
}

#[derive(Default)]
struct Received {
    taken: HashMap<String, BTreeMap<u64, Taken>>,
    /// Of a number that came again: it must be the same.
    contradictions: Vec<String>,
    failures: u64,
    count: u64,
}

#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<Received>>,
    random: Arc<Mutex<StdRng>>,
    fails: Arc<Mutex<f64>>,
}

pub struct WebhookReceiver {
    shared: Shared,
    url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for WebhookReceiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl WebhookReceiver {
    pub async fn start(seed: u64) -> Self {
        let shared = Shared {
            state: Arc::default(),
            random: Arc::new(Mutex::new(StdRng::seed_from_u64(seed))),
            fails: Arc::new(Mutex::new(0.0)),
        };
        let router = Router::new().route("/{name}", post(take)).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        WebhookReceiver { shared, url, task }
    }

    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    /// From now on this share of deliveries meets trouble.
    pub fn fail(&self, share: f64) {
        *self.shared.fails.lock().unwrap() = share;
    }

    /// How often something came that was taken.
    pub fn count(&self) -> u64 {
        self.shared.state.lock().unwrap().count
    }

    pub fn failures(&self) -> u64 {
        self.shared.state.lock().unwrap().failures
    }

    /// What was taken for the stream with this name, by number.
    pub fn taken(&self, name: &str) -> BTreeMap<u64, Taken> {
        self.shared.state.lock().unwrap().taken.get(name).cloned().unwrap_or_default()
    }

    pub fn contradictions(&self) -> Vec<String> {
        self.shared.state.lock().unwrap().contradictions.clone()
    }
}

async fn take(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(seq) = header_text(&headers, "x-sequence").and_then(|it| it.parse::<u64>().ok())
    else {
        // A test call has no number.
        return StatusCode::OK.into_response();
    };
    let trouble = {
        let mut random = shared.random.lock().unwrap();
        random.random_bool(*shared.fails.lock().unwrap()).then(|| random.random_range(0..4))
    };
    if let Some(trouble) = trouble {
        shared.state.lock().unwrap().failures += 1;
        match trouble {
            0 => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            1 => {
                return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "1")])
                    .into_response();
            }
            // Longer than anybody waits.
            2 => tokio::time::sleep(Duration::from_secs(30)).await,
            // Taken, but the sender does not learn of it.
            _ => {
                keep(&shared, &name, seq, &headers, &body);
                return StatusCode::BAD_GATEWAY.into_response();
            }
        }
    }
    keep(&shared, &name, seq, &headers, &body);
    StatusCode::OK.into_response()
}

fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn keep(shared: &Shared, name: &str, seq: u64, headers: &HeaderMap, body: &Bytes) {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let body: Value = serde_json::from_slice(body).unwrap();
    let retries = format!(r#","retries":{},"#, body["retries"]);
    let text = text.replacen(&retries, r#","retries":0,"#, 1);
    let taken = Taken {
        digest: header_text(headers, "x-digest").unwrap(),
        previous: header_text(headers, "x-previous-digest").unwrap(),
        body,
        traces_missing: header_text(headers, "x-traces").as_deref() == Some("missing"),
        amends: header_text(headers, "x-amends").map(|it| it.parse().unwrap()),
        text,
    };
    let mut state = shared.state.lock().unwrap();
    state.count += 1;
    let known = state.taken.entry(name.to_owned()).or_default().insert(seq, taken.clone());
    if let Some(known) = known.filter(|known| known.digest != taken.digest) {
        state.contradictions.push(format!("{name} {seq}: {} and {}", known.text, taken.text));
    }
}

/// Numbers without a hole from 1, each digest made from the one below and the body as it was first sent.
pub fn prove(taken: &BTreeMap<u64, Taken>) {
    let mut previous = format!("0x{}", "0".repeat(64));
    for (expected, (seq, delivery)) in (1..).zip(taken) {
        assert_eq!(*seq, expected, "a number is missing");
        assert_eq!(delivery.previous, previous, "of number {seq}");
        let below = alloy_primitives::hex::decode(&previous).unwrap();
        let hash = Sha256::new()
            .chain_update(below)
            .chain_update(seq.to_be_bytes())
            .chain_update(&delivery.text)
            .finalize();
        assert_eq!(
            delivery.digest,
            alloy_primitives::hex::encode_prefixed(hash),
            "of number {seq}"
        );
        previous = delivery.digest.clone();
    }
}
