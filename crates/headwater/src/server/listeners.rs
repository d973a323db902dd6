//! Where the server listens, and for what.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use api::{App, Connections, Hosts, Limits, Stage};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::admin;
use crate::config::Settings;
use crate::file_limit::FilePlan;

/// Connections that the system holds until we take them; it may have a lower limit of its own.
const BACKLOG: u32 = 8192;

/// Removing a file takes no longer, unless the disk hangs.
const REMOVE_WAIT: Duration = Duration::from_secs(2);

pub struct Listeners {
    folder: PathBuf,
    stage: watch::Sender<Stage>,
    tasks: JoinSet<()>,
    sweep: JoinSet<()>,
    notice: Duration,
    patience: Duration,
}

impl Listeners {
    /// Also says the addresses, with the ports that the system gave where 0 was asked for.
    pub async fn start(
        settings: &Settings,
        app: &App,
        (hosts, files): (Hosts, FilePlan),
    ) -> Result<(Self, Vec<SocketAddr>)> {
        let (stage, stages) = watch::channel(Stage::Serving);
        let (mut tasks, mut sweep) = (JoinSet::new(), JoinSet::new());
        let connections = connections(settings, files);
        sweep.spawn(connections.clone().sweep());
        let mut addresses = Vec::new();
        for (address, hosts) in listening(settings, hosts) {
            let listener = bind(&address).with_context(|| format!("cannot listen on {address}"))?;
            addresses.push(listener.local_addr()?);
            let connections = connections.clone();
            tasks.spawn(api::serve(listener, app.clone(), hosts, connections, stages.clone()));
        }
        let socket = admin::bind(&settings.store.path)?;
        tasks.spawn(api::serve_local(socket, app.clone(), stages));
        let folder = settings.store.path.clone();
        let notice = Duration::from_millis(settings.listen.drain_notice_ms);
        let patience = Duration::from_millis(settings.listen.drain_timeout_ms);
        Ok((Listeners { folder, stage, tasks, sweep, notice, patience }, addresses))
    }

    /// Ends when one of them did, though nobody said so, or nobody closes what is overdue any more.
    pub async fn ended(&mut self) {
        tokio::select! {
            _ = self.tasks.join_next() => {}
            _ = self.sweep.join_next() => {}
        }
    }

    /// First a while in which balancers see that they should send nothing more, and whoever asks is still
    /// answered; then nobody is let in. Ends when the last request under way has ended, or was given up.
    pub async fn stop(&mut self) {
        self.stage.send_replace(Stage::Notice);
        tokio::time::sleep(self.notice).await;
        self.stage.send_replace(Stage::Draining);
        // From now on commands open the store themselves, as soon as it is let go. On a disk that hangs this
        // hangs, too, and must keep nothing else.
        let folder = self.folder.clone();
        let removed = tokio::task::spawn_blocking(move || admin::remove(&folder));
        let _ = tokio::time::timeout(REMOVE_WAIT, removed).await;
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(self.patience, drained).await.is_err() {
            tracing::warn!("some requests did not end in time (listen.drain_timeout_ms)");
        }
        self.tasks.shutdown().await;
        self.sweep.shutdown().await;
    }
}

/// With room for a crowd that comes at once: whoever does not fit would try again after a second, then three.
fn bind(address: &str) -> Result<TcpListener> {
    let address = address.to_socket_addrs()?.next().context("the name has no address")?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket.listen(BACKLOG)?)
}

/// Strangers get what the store and the nodes leave.
fn connections(settings: &Settings, files: FilePlan) -> std::sync::Arc<Connections> {
    let limits = Limits::new(&settings.listen, files.connections_max);
    if limits.connections_max < settings.listen.connections_max {
        tracing::warn!(
            connections_max = limits.connections_max,
            per_address_max = limits.per_client_max,
            open_files_max = files.limit,
            "fewer connections than listen.connections_max: the limit of open files is too low; raise it \
             (ulimit -Hn, LimitNOFILE=) or set less"
        );
    }
    Connections::new(limits)
}

/// One listener for all, less the hosts that have their own. Health, status and metrics are served by
/// every one. A process that does not serve a host has no listener for it.
fn listening(settings: &Settings, mut all: Hosts) -> Vec<(String, Hosts)> {
    let listen = &settings.listen;
    let none = Hosts::NONE;
    let mut list = Vec::new();
    if all.data && !listen.data.is_empty() {
        all.data = false;
        list.push((listen.data.clone(), Hosts { data: true, ..none }));
    }
    if all.rpc && !listen.rpc.is_empty() {
        all.rpc = false;
        list.push((listen.rpc.clone(), Hosts { rpc: true, ..none }));
    }
    if all.streams && !listen.streams.is_empty() {
        all.streams = false;
        list.push((listen.streams.clone(), Hosts { streams: true, ..none }));
    }
    if all.admin && !listen.admin.is_empty() {
        all.admin = false;
        list.push((listen.admin.clone(), Hosts { admin: true, ..none }));
    }
    if all.console && !listen.console.is_empty() {
        all.console = false;
        list.push((listen.console.clone(), Hosts::CONSOLE));
    }
    list.insert(0, (listen.all.clone(), all));
    list
}
