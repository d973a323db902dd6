//! Where the server listens, and for what.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use api::{App, Hosts};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::admin;
use crate::config::Settings;

pub struct Listeners {
    folder: PathBuf,
    stop: watch::Sender<bool>,
    tasks: JoinSet<std::io::Result<()>>,
}

impl Listeners {
    /// Also says the addresses, with the ports that the system gave where 0 was asked for.
    pub async fn start(settings: &Settings, app: &App) -> Result<(Self, Vec<SocketAddr>)> {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut addresses = Vec::new();
        for (address, hosts) in listening(settings) {
            let listener = TcpListener::bind(&address)
                .await
                .with_context(|| format!("cannot listen on {address}"))?;
            addresses.push(listener.local_addr()?);
            tasks.spawn(api::serve(listener, app.clone(), hosts, stopped.clone()));
        }
        let socket = admin::bind(&settings.store.path)?;
        tasks.spawn(api::serve_local(socket, app.clone(), stopped));
        let folder = settings.store.path.clone();
        Ok((Listeners { folder, stop, tasks }, addresses))
    }

    /// Ends when the last request under way has ended.
    pub async fn stop(&mut self) {
        self.stop.send_replace(true);
        // From now on commands open the store themselves, as soon as it is let go.
        admin::remove(&self.folder);
        while self.tasks.join_next().await.is_some() {}
    }
}

/// One listener for all, less the hosts that have their own. Health, status and metrics are served by
/// every one.
fn listening(settings: &Settings) -> Vec<(String, Hosts)> {
    let listen = &settings.listen;
    let none = Hosts { data: false, rpc: false, admin: false };
    let mut all = Hosts::ALL;
    let mut list = Vec::new();
    if !listen.data.is_empty() {
        all.data = false;
        list.push((listen.data.clone(), Hosts { data: true, ..none }));
    }
    if !listen.rpc.is_empty() {
        all.rpc = false;
        list.push((listen.rpc.clone(), Hosts { rpc: true, ..none }));
    }
    if !listen.admin.is_empty() {
        all.admin = false;
        list.push((listen.admin.clone(), Hosts { admin: true, ..none }));
    }
    list.insert(0, (listen.all.clone(), all));
    list
}
