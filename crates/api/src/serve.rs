//! Serves requests on a listener until told to stop.

use axum::serve::Listener;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

use crate::admin::LocalSocket;
use crate::app::App;
use crate::router::{Hosts, router};

/// Ends when `stopped` becomes true and the requests under way have ended.
pub async fn serve(
    listener: TcpListener,
    app: App,
    hosts: Hosts,
    stopped: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        // Small answers must not wait for more to say.
        let _ = stream.set_nodelay(true);
    });
    run(listener, router(app, hosts), stopped).await
}

/// The admin surface on a socket that only the owner of the data folder can open: no key is asked for.
pub async fn serve_local(
    listener: UnixListener,
    app: App,
    stopped: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let hosts = Hosts { data: false, rpc: false, admin: true };
    let router = router(app, hosts).layer(axum::Extension(LocalSocket));
    run(listener, router, stopped).await
}

async fn run<L>(
    listener: L,
    router: axum::Router,
    mut stopped: watch::Receiver<bool>,
) -> std::io::Result<()>
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        })
        .await
}
