//! What a listener serves: JSON-RPC calls go straight to the gateway, everything else through the router.
//!
//! A call that is answered from memory takes a few microseconds; the way through the router's layers would take as many
//! again.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::response::Response;
use hyper::body::Incoming;
use tower::Service;

use crate::app::App;
use crate::hosts::node_rpc;
use crate::request_id;
use crate::router::{Hosts, router};
use crate::serve::SocketPlace;

#[derive(Clone)]
pub struct Site {
    router: Router,
    /// Where the listener serves the node RPC.
    rpc: Option<App>,
}

impl Site {
    pub fn new(app: App, hosts: Hosts) -> Self {
        Site { rpc: hosts.rpc.then(|| app.clone()), router: router(app, hosts) }
    }

    pub async fn answer(
        &mut self,
        mut request: Request<Incoming>,
        socket: &SocketPlace,
    ) -> Response {
        if let Some(app) = &self.rpc
            && is_call(app, &request)
        {
            let handler = |request| node_rpc::direct(app, request);
            return request_id::watched(app, node_rpc::ROUTE, request, handler).await;
        }
        request.extensions_mut().insert(socket.clone());
        let Ok(response) = self.router.call(request.map(Body::new)).await;
        response
    }
}

impl From<Router> for Site {
    fn from(router: Router) -> Self {
        Site { router, rpc: None }
    }
}

/// Whether the router would find what it is to be answered by in `node_rpc`. What is not sure is left to the router.
fn is_call<B>(app: &App, request: &Request<B>) -> bool {
    let path = request.uri().path();
    let is_post = request.method() == Method::POST;
    is_post
        && node_rpc::parts(path)
            .is_some_and(|(chain, _)| node_rpc::served_chain(app, chain).is_ok())
}
