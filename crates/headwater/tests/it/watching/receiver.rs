//! A webhook receiver that takes test calls and refuses everything else.

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;

pub struct Receiver {
    pub url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Receiver {
    pub async fn start(status: u16) -> Self {
        let status = StatusCode::from_u16(status).unwrap();
        let answer = move |headers: HeaderMap| async move {
            if headers.contains_key("x-sequence") { status } else { StatusCode::OK }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new().route("/hook", post(answer));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Receiver { url, task }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}
