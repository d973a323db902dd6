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
use crate::hosts::node_rpc::{self, CallPath};
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

    /// Which chain is called and with which key, where that goes past the router. What is not sure is left to the router.
    pub fn call_of<B>(&self, request: &Request<B>) -> Option<CallPath> {
        let app = self.rpc.as_ref().filter(|_| request.method() == Method::POST)?;
        CallPath::read(app, request.uri().path())
    }

    /// `call`: what `call_of` said of it.
    pub async fn answer<B>(
        &mut self,
        mut request: Request<B>,
        call: Option<CallPath>,
        socket: &SocketPlace,
    ) -> Response
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<axum::BoxError>,
    {
        if let (Some(app), Some(call)) = (&self.rpc, call) {
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
