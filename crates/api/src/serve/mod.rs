//! The listener: takes connections, serves requests on them, and lets none last longer than it may.
//!
//! In: a listener, a site, the limits. Must not know: what is served.

mod accept;
mod activity;
mod answer_body;
mod call_threads;
mod connections;
mod one_connection;
mod plain;
mod refused_head;
mod socket_place;
mod stream;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

pub use connections::{Connections, Limits};
pub use socket_place::{HeldPlace, SocketPlace};

use crate::admin::LocalSocket;
use crate::app::App;
use crate::listen_config::ListenConfig;
use crate::router::{Hosts, router};
use crate::site::Site;
use accept::Acceptor;
use stream::Listener;

/// How far stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Serving,
    /// Requests are still taken, but every answer asks the client to come back on another connection.
    Notice,
    /// No new connections; requests under way end.
    Draining,
}

/// The owner's own connections: few, and no stranger's.
const LOCAL_CONNECTIONS_MAX: usize = 64;

/// Ends when the stage is `Draining` and the requests under way have ended. Boxed, so that the HTTP server is compiled
/// here and not in every crate that awaits it.
pub fn serve(
    listener: TcpListener,
    app: App,
    hosts: Hosts,
    connections: Arc<Connections>,
    stage: watch::Receiver<Stage>,
) -> BoxFuture<'static, ()> {
    let (listen, has_cors) = (app.parts.listen.clone(), app.parts.config.cors);
    let listener = Listener::Tcp(listener);
    let acceptor = Acceptor::new(listener, Site::new(app, hosts), connections, &listen);
    let acceptor = if has_cors { acceptor.with_cors() } else { acceptor };
    acceptor.run(stage).boxed()
}

/// The admin surface on a socket that only the owner of the data folder can open: no key is asked for.
pub fn serve_local(
    listener: UnixListener,
    app: App,
    stage: watch::Receiver<Stage>,
) -> BoxFuture<'static, ()> {
    let hosts = Hosts { admin: true, ..Hosts::NONE };
    let listen =
        ListenConfig { connections_max: LOCAL_CONNECTIONS_MAX, ..app.parts.listen.clone() };
    let connections = Connections::new(Limits::new(&listen, LOCAL_CONNECTIONS_MAX));
    let sweep = connections.clone().sweep();
    let router = router(app, hosts).layer(axum::Extension(LocalSocket));
    let acceptor = Acceptor::new(Listener::Unix(listener), router.into(), connections, &listen);
    let serve = async move {
        tokio::select! {
            () = acceptor.run(stage) => {}
            () = sweep => {}
        }
    };
    serve.boxed()
}
