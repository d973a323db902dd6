//! A receiver that takes everything, in a process of its own, so that it is the same for our sender and for a bare
//! client. It tells how many bodies came and when each block was first told of.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::machine::now_us;
use crate::process::{Process, free_port, wait_for};

#[derive(Default)]
struct Taken {
    deliveries: u64,
    bytes: u64,
    /// When deliveries came, by path and number, microseconds since 1970.
    times: HashMap<String, Vec<(u64, u64)>>,
    last: Bytes,
    /// Deliveries are answered 500, and not counted.
    refuses: bool,
}

type Shared = Arc<Mutex<Taken>>;

pub struct Receiver {
    _process: Process,
    pub address: String,
    port: u16,
}

impl Receiver {
    pub async fn start() -> Result<Self> {
        let port = free_port()?;
        // Any address of the loopback network is a host of its own to the sender.
        let (listen, address) = (format!("0.0.0.0:{port}"), format!("127.0.0.1:{port}"));
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("receive").arg(&listen).stdout(Stdio::null());
        let process = Process::start(&mut command)?;
        wait_for(&format!("http://{address}/taken")).await?;
        Ok(Receiver { _process: process, address, port })
    }

    /// A host for each number.
    pub fn url(&self, number: usize) -> String {
        let (high, low) = (number / 250, number % 250 + 1);
        format!("http://127.1.{high}.{low}:{}/{number}", self.port)
    }

    pub async fn deliveries(&self) -> Result<u64> {
        let taken = self.ask("taken").await?;
        taken.get("deliveries").and_then(Value::as_u64).context("no count")
    }

    /// Bytes of the last body that came, as many as a body has on average.
    pub async fn average_body(&self) -> Result<Bytes> {
        let last = reqwest::get(format!("http://{}/last", self.address)).await?.bytes().await?;
        let taken = self.ask("taken").await?;
        let of = |name: &str| taken.get(name).and_then(Value::as_u64).context("no count");
        let average = of("bytes")? / of("deliveries")?.max(1);
        Ok(last.iter().copied().cycle().take(average as usize).collect())
    }

    /// When each unconfirmed block came to a path: (block, microseconds since 1970).
    pub async fn times(&self) -> Result<HashMap<String, Vec<(u64, u64)>>> {
        Ok(serde_json::from_value(self.ask("times").await?)?)
    }

    /// Whether it fails from now on.
    pub async fn refuse(&self, refuses: bool) -> Result<()> {
        self.ask(&format!("refuse/{refuses}")).await.map(drop)
    }

    async fn ask(&self, path: &str) -> Result<Value> {
        let text = reqwest::get(format!("http://{}/{path}", self.address)).await?.text().await?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// The process's own main.
pub fn receive(address: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let router = Router::new()
            .route(
                "/taken",
                get(|State(it): State<Shared>| async move {
                    Json(it.lock().map_or(
                        Value::Null,
                        |it| json!({ "deliveries": it.deliveries, "bytes": it.bytes }),
                    ))
                }),
            )
            .route(
                "/times",
                get(|State(it): State<Shared>| async move {
                    Json(it.lock().map(|it| it.times.clone()).unwrap_or_default())
                }),
            )
            .route(
                "/last",
                get(|State(it): State<Shared>| async move {
                    it.lock().map(|it| it.last.clone()).unwrap_or_default()
                }),
            )
            .route("/refuse/{refuses}", get(refuse))
            .route("/{path}", post(take))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(Shared::default());
        Ok(axum::serve(tokio::net::TcpListener::bind(address).await?, router).await?)
    })
}

async fn refuse(State(shared): State<Shared>, Path(refuses): Path<bool>) -> Json<Value> {
    if let Ok(mut taken) = shared.lock() {
        taken.refuses = refuses;
    }
    Json(Value::Null)
}

async fn take(
    State(shared): State<Shared>,
    Path(path): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let now = now_us();
    // Test calls have no number.
    let counts = headers.contains_key("x-sequence");
    if let Ok(mut taken) = shared.lock()
        && counts
    {
        if taken.refuses {
            return StatusCode::INTERNAL_SERVER_ERROR;
        }
        taken.deliveries += 1;
        taken.bytes += body.len() as u64;
        if let Some(number) = unconfirmed_block(&body) {
            taken.times.entry(path).or_default().push((number, now));
        }
        taken.last = body;
    }
    StatusCode::OK
}

/// Of the beginning of a payload, without reading all of it.
fn unconfirmed_block(body: &[u8]) -> Option<u64> {
    let begin = body.get(..body.len().min(4096))?;
    let text = String::from_utf8_lossy(begin);
    if !text.contains("\"confirmed\":false") {
        return None;
    }
    let (_, after) = text.split_once("\"block\":{\"number\":\"")?;
    after.split_once('"')?.0.parse().ok()
}
