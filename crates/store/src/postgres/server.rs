//! Which server, and how it is reached: the URL taken apart, one connection made.
//!
//! The URL is what libpq takes, several hosts and `target_session_attrs` included; beside that
//! `sslrootcert`, a file of certificates to trust. Whoever sees an error sees the hosts, never the password.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config};

use super::tls::MakeTls;
use crate::Error;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that vanished is known to be gone within this.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(10);

/// No statement of ours takes as long; one that does is cut off, and so is a transaction that is forgotten.
const SESSION: &str = "set statement_timeout = '10min'; set idle_in_transaction_session_timeout = '10min'; \
     set timezone = 'UTC'; set client_min_messages = warning";

pub struct Server {
    config: Config,
    tls: MakeTls,
    /// Whether a commit waits for the disk.
    durable: bool,
    label: PathBuf,
    /// Whether it was said that connections are not encrypted.
    is_plain_told: AtomicBool,
}

type Session = tokio_postgres::Connection<tokio_postgres::Socket, super::tls::Stream>;

/// What the server says without being asked.
pub type Messages = tokio::sync::mpsc::UnboundedReceiver<String>;

impl Server {
    pub fn new(url: &str, durable: bool) -> Result<Self, Error> {
        let (url, root_cert) = without_root_cert(url);
        let refused = |source: Box<dyn std::error::Error + Send + Sync>| Error::Engine {
            action: "read store.url",
            path: PathBuf::from("postgres://…"),
            source,
            advice: "write postgres://user:password@host:port/database",
            retryable: false,
        };
        let mut config: Config = url.parse().map_err(|error| refused(Box::new(error)))?;
        let tls = MakeTls::new(root_cert.as_deref()).map_err(refused)?;
        if config.get_application_name().is_none() {
            config.application_name("headwater");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.keepalives_idle(KEEPALIVE_IDLE).tcp_user_timeout(TCP_USER_TIMEOUT);
        let label = PathBuf::from(label(&config));
        Ok(Server { config, tls, durable, label, is_plain_told: AtomicBool::new(false) })
    }

    /// Without the password.
    pub fn label(&self) -> &PathBuf {
        &self.label
    }

    pub async fn connect(&self) -> Result<Client, Error> {
        self.connect_with(None).await
    }

    /// With a place for what other sessions notify.
    pub async fn connect_and_listen(&self) -> Result<(Client, Messages), Error> {
        let (sender, messages) = tokio::sync::mpsc::unbounded_channel();
        let client = self.connect_with(Some(sender)).await?;
        Ok((client, messages))
    }

    /// Encrypted where it must be, and where the server can prove who it is. `sslmode=prefer` promises nothing: many
    /// servers have a certificate that nobody signed.
    async fn open_session(&self) -> Result<(Client, Session), tokio_postgres::Error> {
        match self.config.connect(self.tls.clone()).await {
            Err(error) if self.config.get_ssl_mode() == SslMode::Prefer && is_of_tls(&error) => {
                if !self.is_plain_told.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        server = %self.label.display(), error = %with_cause(Box::new(error)),
                        "connections to the database are not encrypted; sslmode=require and sslrootcert make them so"
                    );
                }
                let mut plain = self.config.clone();
                plain.ssl_mode(SslMode::Disable).connect(self.tls.clone()).await
            }
            done => done,
        }
    }

    async fn connect_with(
        &self,
        notes: Option<tokio::sync::mpsc::UnboundedSender<String>>,
    ) -> Result<Client, Error> {
        let connecting = timeout(CONNECT_TIMEOUT, self.open_session()).await;
        let connected = connecting.map_err(|_| self.unreachable("it took too long".into()))?;
        let (client, mut connection) = connected.map_err(|error| self.not_let_in(error))?;
        let label = self.label.clone();
        tokio::spawn(async move {
            loop {
                match std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                    Some(Ok(AsyncMessage::Notification(note))) => {
                        let told = notes.as_ref().map(|notes| notes.send(note.payload().into()));
                        if told.is_some_and(|told| told.is_err()) {
                            break;
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => {
                        tracing::debug!(server = %label.display(), %error, "connection ended");
                        break;
                    }
                    None => break,
                }
            }
        });
        let sync = if self.durable { "" } else { "; set synchronous_commit = off" };
        let set = client.batch_execute(&format!("{SESSION}{sync}")).await;
        set.map_err(|error| self.not_let_in(error))?;
        Ok(client)
    }

    /// One that is away or starting lets everybody in later; one that does not know the user or the database does not.
    fn not_let_in(&self, error: tokio_postgres::Error) -> Error {
        let class = error.code().and_then(|code| code.code().get(..2)).unwrap_or_default();
        match class {
            "28" | "3D" => Error::Engine {
                action: "use the database",
                path: self.label.clone(),
                source: with_cause(Box::new(error)),
                advice: "look at the user, the password and the database in its URL (store.url, or [chains.NAME] store)",
                retryable: false,
            },
            _ => self.unreachable(Box::new(error)),
        }
    }

    pub fn unreachable(&self, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Engine {
            action: "reach the database",
            path: self.label.clone(),
            source: with_cause(source),
            advice: "look at its URL (store.url, or [chains.NAME] store) and at the server; a process that runs goes on by itself",
            retryable: true,
        }
    }

    /// What went wrong while the server was asked to do something.
    pub fn failed(&self, action: &'static str, error: tokio_postgres::Error) -> Error {
        let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
        let (advice, retryable) = advice(&code, error.is_closed());
        let source = with_cause(Box::new(error));
        Error::Engine { action, path: self.label.clone(), source, advice, retryable }
    }
}

/// Whether the handshake failed, which the library says in words alone.
fn is_of_tls(error: &tokio_postgres::Error) -> bool {
    error.to_string().contains("TLS handshake")
}

/// By the class of its SQLSTATE.
fn advice(code: &str, is_closed: bool) -> (&'static str, bool) {
    match code.get(..2).unwrap_or_default() {
        "53" => ("the server is short of room, memory or connections; it goes on by itself", true),
        "40" | "55" | "57" | "08" | "25" => {
            ("the server was busy or is restarting; try again", true)
        }
        "42" => ("is this build as new as the schema? run `headwater migrate`", false),
        "28" => ("look at the user and the password in its URL", false),
        "" if is_closed => ("the connection was lost; a server that runs goes on by itself", true),
        "" => ("the log of the process may say more", true),
        _ => ("the server's log may say more", false),
    }
}

/// The client library's errors tell their cause only when asked for it.
fn with_cause(
    error: Box<dyn std::error::Error + Send + Sync>,
) -> Box<dyn std::error::Error + Send + Sync> {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    text.into()
}

/// Hosts and database.
fn label(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let tls = if config.get_ssl_mode() == SslMode::Require { " (TLS)" } else { "" };
    format!("postgres://{}/{}{tls}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

/// The one parameter that the client library does not know.
fn without_root_cert(url: &str) -> (String, Option<String>) {
    let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let is_cert = |pair: &&str| pair.starts_with("sslrootcert=");
    let cert = query.split('&').find(is_cert).and_then(|pair| pair.split_once('='));
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_cert(pair)).collect();
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    (url, cert.map(|(_, file)| file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_told_without_its_password() {
        for (url, told) in [
            (
                "postgres://me:secret@db1:5432,db2:5433/chain?target_session_attrs=read-write",
                "postgres://db1,db2/chain",
            ),
            ("postgresql://me:secret@db1/chain?sslmode=require", "postgres://db1/chain (TLS)"),
            ("postgres:///chain?host=/run/postgresql&user=me", "postgres:///run/postgresql/chain"),
        ] {
            let server = Server::new(url, true).unwrap();
            assert_eq!(server.label().to_str().unwrap(), told);
        }
        let Err(error) = Server::new("postgres://me:secret@db1/chain?sslmode=odd", true) else {
            panic!("there is no such mode")
        };
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn the_file_of_certificates_is_taken_out_of_the_url() {
        let url = "postgres://db/x?sslmode=require&sslrootcert=/etc/ca.pem";
        let (rest, cert) = without_root_cert(url);
        assert_eq!(rest, "postgres://db/x?sslmode=require");
        assert_eq!(cert.as_deref(), Some("/etc/ca.pem"));
        assert_eq!(without_root_cert("postgres://db/x?sslrootcert=a").0, "postgres://db/x");
    }
}
