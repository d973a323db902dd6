//! What a listener serves: JSON-RPC calls go straight to the gateway, everything else through the router.
//!
//! A call that is answered from memory takes a few microseconds; the way through the router's layers would take as many
//! again.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::response::Response;
use bytes::Bytes;
use http_body::Body as HttpBody;
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

    pub async fn answer<B>(&mut self, mut request: Request<B>, socket: &SocketPlace) -> Response
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<axum::BoxError>,
    {
        if let Some(app) = &self.rpc
            && let Some(call) = call_of(app, &request)
        {
            let handler = |request| node_rpc::direct(app, call, request);
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

/// Which chain is called and with which key, where the router would have it answered by `node_rpc`. What is not sure is
/// left to the router.
fn call_of<B>(app: &App, request: &Request<B>) -> Option<node_rpc::CallPath> {
    let is_post = request.method() == Method::POST;
    is_post.then(|| node_rpc::CallPath::read(app, request.uri().path())).flatten()
}
