//! A simulated node: serves a shared chain over HTTP and WebSocket on a local port, with faults on demand.
//!
//! Several nodes may share one chain, so that one lies while another is honest. Knows nothing of who
//! reads from it.

mod call;
mod contracts;
mod edit;
mod faults;
mod http;
mod logs;
mod methods;
mod node_view;
mod responder;
mod rule;
mod socket;
mod tamper;
mod tamper_trace;

pub(crate) use edit::{bump, flip, grow};
pub use faults::{Faults, RuleId};
pub use rule::{Fault, Rule};
pub use tamper::Tamper;

use crate::chain::SharedChain;
use axum::{Router, routing::get, serve::ListenerExt};
use responder::Responder;
use std::{io, net::SocketAddr, sync::Arc};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// A running node. Dropping it stops it.
pub struct SimNode {
    address: SocketAddr,
    /// What it does wrong. Empty at start.
    pub faults: Arc<Faults>,
    stop: watch::Sender<bool>,
    server: Option<JoinHandle<()>>,
}

pub(crate) struct NodeState {
    responder: Responder,
    stop: watch::Receiver<bool>,
}

impl NodeState {
    /// Returns when the node is switched off.
    async fn stopped(&self) {
        let _ = self.stop.clone().wait_for(|stop| *stop).await; // a dropped sender means off, too
    }
}

impl SimNode {
    /// On a free local port.
    pub async fn start(chain: SharedChain) -> io::Result<Self> {
        Self::start_on(chain, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// On a given address: how a node that was stopped comes back.
    pub async fn start_on(chain: SharedChain, address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        // As real nodes do. Without it the end of a long answer waits up to 40 ms for the reader's acknowledgement.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true); // slower, not wrong
        });
        let faults = Arc::new(Faults::default());
        let (stop, stopped) = watch::channel(false);
        let responder = Responder::new(chain, faults.clone());
        let state = Arc::new(NodeState { responder, stop: stopped });
        let router = Router::new()
            .route("/", get(socket::upgrade).post(http::post))
            .with_state(state.clone());
        let server = tokio::spawn(async move {
            let until = async move { state.stopped().await };
            let _ = axum::serve(listener, router).with_graceful_shutdown(until).await;
        });
        Ok(Self { address, faults, stop, server: Some(server) })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn ws_url(&self) -> String {
        format!("ws://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and all connections, and returns when that is done.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        if let Some(server) = self.server.take() {
            let _ = server.await; // an aborted server is stopped as well
        }
    }
}

impl Drop for SimNode {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}
