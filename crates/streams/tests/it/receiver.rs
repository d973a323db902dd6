//! A receiver of webhooks that can be made to fail.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use streams::receive::{ReceivedRequest, ReceiverLog};
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(180);

#[derive(Clone)]
pub enum Answer {
    Status(u16),
    With(u16, &'static str, String),
    /// Never, until it is let go: then 200.
    Hang,
    /// 200, and a body without an end.
    Endless,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Got {
    pub headers: HashMap<String, String>,
    pub body: Bytes,
}

impl Got {
    pub fn seq(&self) -> u64 {
        self.header("x-sequence").parse().unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    pub fn retries(&self) -> u64 {
        serde_json::from_slice::<serde_json::Value>(&self.body).unwrap()["retries"]
            .as_u64()
            .unwrap()
    }
}

type Behaviour = dyn Fn(&Got) -> Answer + Send + Sync;

pub struct Receiver {
    pub url: String,
    inner: Arc<Inner>,
}

struct Inner {
    behaviour: Mutex<Arc<Behaviour>>,
    got: Mutex<Vec<Got>>,
    taken: Mutex<Vec<Got>>,
    let_go: tokio::sync::Semaphore,
}

impl Receiver {
    pub async fn start(behaviour: impl Fn(&Got) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", behaviour).await
    }

    pub async fn start_at(
        address: &str,
        behaviour: impl Fn(&Got) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let inner = Arc::new(Inner {
            behaviour: Mutex::new(Arc::new(behaviour)),
            got: Mutex::default(),
            taken: Mutex::default(),
            let_go: tokio::sync::Semaphore::new(0),
        });
        let service = axum::Router::new().fallback(receive).with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        Receiver { url, inner }
    }

    pub async fn healthy() -> Self {
        Self::start(|_| Answer::Status(200)).await
    }

    pub fn behave(&self, behaviour: impl Fn(&Got) -> Answer + Send + Sync + 'static) {
        *self.inner.behaviour.lock().unwrap() = Arc::new(behaviour);
    }

    pub fn port(&self) -> u16 {
        let authority = self.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        authority.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// All requests, in the order in which they came.
    pub fn got(&self) -> Vec<Got> {
        self.inner.got.lock().unwrap().clone()
    }

    /// Those that were answered with 2xx.
    pub fn taken(&self) -> Vec<Got> {
        self.inner.taken.lock().unwrap().clone()
    }

    /// Requests that hang are answered, and so are later ones.
    pub fn let_go(&self) {
        self.inner.let_go.add_permits(1_000_000);
    }

    pub async fn wait_for_got(&self, count: usize) -> Vec<Got> {
        wait_until(&format!("{count} requests at {}", self.url), || self.got().len() >= count)
            .await;
        self.got()
    }

    pub async fn wait_for_taken(&self, count: usize) -> Vec<Got> {
        wait_until(&format!("{count} webhooks taken at {}", self.url), || {
            self.taken().len() >= count
        })
        .await;
        self.taken()
    }

    /// What was taken, as a receiver would look at it: everything holds, nothing is missing.
    pub fn prove(&self, secret: &str, stream_id: &str, last: u64) {
        let mut log = ReceiverLog::new(Some(secret.to_owned()));
        for got in self.taken() {
            let header = |name: &str| got.headers.get(name).cloned();
            let now_s = got.header("webhook-timestamp").parse().unwrap();
            let reception = log.take(&ReceivedRequest { header: &header, body: &got.body, now_s });
            assert!(reception.problems.is_empty(), "{:?}", reception.problems);
        }
        assert_eq!(log.received(stream_id), [1..=last]);
    }
}

async fn receive(
    State(inner): State<Arc<Inner>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let text = |value: &axum::http::HeaderValue| value.to_str().unwrap().to_owned();
    let headers = headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let got = Got { headers, body };
    inner.got.lock().unwrap().push(got.clone());
    let behaviour = inner.behaviour.lock().unwrap().clone();
    let mut response = Response::builder();
    let mut answer_body = Body::empty();
    let status = match behaviour(&got) {
        Answer::Status(status) => status,
        Answer::With(status, name, value) => {
            response = response.header(name, value);
            status
        }
        Answer::Hang => {
            inner.let_go.acquire().await.unwrap().forget();
            200
        }
        Answer::Endless => {
            let zeros =
                || async { Some((Ok::<_, Infallible>(Bytes::from_static(&[0; 4096])), ())) };
            answer_body = Body::from_stream(futures_util::stream::unfold((), move |()| zeros()));
            200
        }
    };
    if (200..300).contains(&status) {
        inner.taken.lock().unwrap().push(got);
    }
    response.status(status).body(answer_body).unwrap()
}

/// Reads a request and closes the connection.
pub async fn closing_receiver() -> String {
    use tokio::io::AsyncReadExt;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 1024]).await;
        }
    });
    url
}

pub async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !is_so() {
        assert!(tokio::time::Instant::now() < deadline, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
