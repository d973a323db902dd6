//! Sends spans in batches. What cannot be sent, or finds no room in the queue, is dropped and counted.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{Client, Url, header, redirect};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::encode::{self, Resource};
use super::span::Span;

const QUEUE_SPANS: usize = 4_096;
const BATCH_SPANS: usize = 512;
/// A batch that is not full goes after this long.
const BATCH_AFTER: Duration = Duration::from_secs(2);
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of a process waits for what is left.
const LAST_BATCH: Duration = Duration::from_secs(2);
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Where spans are put when they end; nobody waits.
#[derive(Clone)]
pub struct SpanQueue(mpsc::Sender<Span>);

impl SpanQueue {
    pub fn push(&self, span: Span) {
        if self.0.try_send(span).is_err() {
            dropped("queue", 1);
        }
    }
}

/// Made before the runtime is there; `run` sends.
pub struct Exporter {
    url: Url,
    client: Client,
    resource: Resource,
    spans: mpsc::Receiver<Span>,
}

/// Ends the exporter after what it holds was sent.
pub struct Stop(oneshot::Sender<()>, tokio::task::JoinHandle<()>);

impl Stop {
    pub async fn stop(self) {
        let _ = self.0.send(());
        let _ = timeout(LAST_BATCH + Duration::from_secs(1), self.1).await;
    }
}

/// The place for traces below `telemetry.otlp_url`. The value is not quoted: it may hold a password.
pub fn traces_url(base: &str) -> Result<Url> {
    let mut url: Url = base.parse().context("telemetry.otlp_url is not a URL")?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    ensure!(is_web, "telemetry.otlp_url must begin with http:// or https://");
    ensure!(
        url.query().is_none() && url.fragment().is_none(),
        "telemetry.otlp_url must have neither a query nor a fragment; /v1/traces is added to it"
    );
    let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

impl Exporter {
    pub fn new(base: &str, service_name: &str) -> Result<(Self, SpanQueue)> {
        let url = traces_url(base)?;
        let client = Client::builder()
            .timeout(SEND_TIMEOUT)
            .redirect(redirect::Policy::none())
            .build()
            .context("the exporter of traces")?;
        let (queue, spans) = mpsc::channel(QUEUE_SPANS);
        let version = env!("CARGO_PKG_VERSION");
        let instance = format!("{:032x}", rand::random::<u128>());
        let attributes = vec![
            ("service.name", service_name.to_owned()),
            ("service.version", version.to_owned()),
            ("service.instance.id", instance),
            ("process.pid", std::process::id().to_string()),
        ];
        let resource = Resource { attributes, version };
        Ok((Exporter { url, client, resource, spans }, SpanQueue(queue)))
    }

    /// Must be called inside a runtime.
    pub fn spawn(self) -> Stop {
        let (stop, stopped) = oneshot::channel();
        Stop(stop, tokio::spawn(self.run(stopped)))
    }

    async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        let mut trouble = Trouble::default();
        let mut batch = Vec::new();
        loop {
            let is_over = tokio::select! {
                () = fill(&mut batch, &mut self.spans) => false,
                _ = &mut stopped => true,
            };
            if is_over {
                batch.extend(std::iter::from_fn(|| self.spans.try_recv().ok()).take(BATCH_SPANS));
                let _ = timeout(LAST_BATCH, self.send(&batch, &mut trouble)).await;
                return;
            }
            self.send(&batch, &mut trouble).await;
            batch.clear();
        }
    }

    async fn send(&self, batch: &[Span], trouble: &mut Trouble) {
        if batch.is_empty() {
            return;
        }
        let body = encode::request(&self.resource, batch);
        let post = self.client.post(self.url.clone());
        let post = post.header(header::CONTENT_TYPE, "application/x-protobuf").body(body);
        let sent = post.send().await.map_err(reqwest::Error::without_url);
        match sent {
            Ok(answer) if answer.status().is_success() => {
                metrics::counter!("headwater_spans_exported_total").increment(batch.len() as u64);
                trouble.is_over();
            }
            Ok(answer) => trouble.tell(batch, &format!("it answered {}", answer.status())),
            Err(error) => trouble.tell(batch, &error.to_string()),
        }
    }
}

/// Waits for a span, then a moment for more. What it has put into the batch stays there when it is cut off.
async fn fill(batch: &mut Vec<Span>, spans: &mut mpsc::Receiver<Span>) {
    if spans.recv_many(batch, BATCH_SPANS).await == 0 {
        // All who could put one in are gone.
        std::future::pending::<()>().await;
    }
    let until = Instant::now() + BATCH_AFTER;
    while batch.len() < BATCH_SPANS {
        let room = BATCH_SPANS - batch.len();
        match timeout_at(until, spans.recv_many(batch, room)).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
}

fn dropped(why: &'static str, spans: u64) {
    metrics::counter!("headwater_spans_dropped_total", "why" => why).increment(spans);
}

/// A receiver that is away is told of now and then, not with every batch.
#[derive(Default)]
struct Trouble {
    told: Option<Instant>,
}

impl Trouble {
    fn tell(&mut self, batch: &[Span], why: &str) {
        dropped("export", batch.len() as u64);
        if self.told.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            tracing::warn!(%why, "traces could not be sent (telemetry.otlp_url) and are dropped");
        }
    }

    fn is_over(&mut self) {
        if self.told.take().is_some() {
            tracing::info!("traces are taken again");
        }
    }
}
