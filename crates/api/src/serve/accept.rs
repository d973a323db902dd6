//! The loop that takes connections. Nothing ends it but the word to stop: where the system has no more
//! descriptors it waits, and makes room.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Stage;
use super::call_threads::CallThreads;
use super::connections::{Connections, Shed};
use super::one_connection::OneConnection;
use super::refused_head::refusal;
use super::stream::{Listener, Stream};
use crate::cors;
use crate::listen_config::ListenConfig;
use crate::site::Site;

/// How long to wait where descriptors or memory have run out.
const PAUSE: Duration = Duration::from_millis(50);
/// HTTP/2: how often a silent client is asked whether it is there, and how long it has to answer.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// HTTP/2: streams that a client opened and reset again before we looked at them, and that we reset.
const RESET_STREAMS_MAX: usize = 32;
/// HTTP/2: what is held for a client, per stream in both directions and per connection.
const H2_STREAM_BYTES: u32 = 64 << 10;
const H2_CONNECTION_BYTES: u32 = 256 << 10;
/// HTTP/2: heads so many times larger than the limit are read, so that they are refused in our words; `request_head` does.
const H2_HEAD_ROOM: usize = 8;

pub struct Acceptor {
    listener: Listener,
    site: Site,
    connections: Arc<Connections>,
    h2_streams_max: u32,
    header_bytes_max: usize,
    /// Of refusals that the site does not see; each with its end of line.
    refusal_headers: Arc<str>,
    call_threads: Arc<CallThreads>,
}

impl Acceptor {
    pub fn new(
        listener: Listener,
        site: Site,
        connections: Arc<Connections>,
        listen: &ListenConfig,
    ) -> Self {
        let ListenConfig { h2_streams_max, header_bytes_max, .. } = *listen;
        let (refusal_headers, call_threads) = (Arc::default(), Arc::default());
        Acceptor {
            listener,
            site,
            connections,
            h2_streams_max,
            header_bytes_max,
            refusal_headers,
            call_threads,
        }
    }

    /// Pages in browsers may read refusals, too.
    pub fn with_cors(self) -> Self {
        Acceptor { refusal_headers: cors::header_lines().into(), ..self }
    }

    pub async fn run(self, mut stage: watch::Receiver<Stage>) {
        let builder = self.builder();
        let mut tasks = JoinSet::new();
        let (mut failing, mut shedding) = (Complaint::default(), Complaint::default());
        let mut draining = stage.clone();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = draining.wait_for(|stage| *stage == Stage::Draining) => break,
            };
            // Those that ended are let go, so that they take no memory.
            while tasks.try_join_next().is_some() {}
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    self.pause(&error, &mut failing).await;
                    continue;
                }
            };
            match self.connections.admit(peer) {
                Ok(place) => {
                    let (site, refusal_headers) = (self.site.clone(), self.refusal_headers.clone());
                    let call_threads = self.call_threads.clone();
                    let one = OneConnection { stream, place, site, refusal_headers, call_threads };
                    tasks.spawn(one.serve(builder.clone(), stage.clone()));
                }
                Err(shed) => self.shed(&stream, shed, &mut shedding),
            }
        }
        // Whoever wants to connect now is told at once that nobody listens.
        drop(self.listener);
        stage.mark_unchanged();
        while tasks.join_next().await.is_some() {}
    }

    fn builder(&self) -> Builder<TokioExecutor> {
        let mut builder = Builder::new(TokioExecutor::new());
        // Our own: the library's cannot write the year that a broken clock may show.
        builder.http1().timer(TokioTimer::new()).auto_date_header(false);
        builder.http1().max_buf_size(self.header_bytes_max).header_read_timeout(None);
        let header_list = self.header_bytes_max.saturating_mul(H2_HEAD_ROOM);
        let header_list = u32::try_from(header_list).unwrap_or(u32::MAX);
        builder
            .http2()
            .timer(TokioTimer::new())
            .auto_date_header(false)
            .max_concurrent_streams(self.h2_streams_max)
            .max_header_list_size(header_list)
            .max_pending_accept_reset_streams(RESET_STREAMS_MAX)
            .max_local_error_reset_streams(RESET_STREAMS_MAX)
            .initial_stream_window_size(H2_STREAM_BYTES)
            .initial_connection_window_size(H2_CONNECTION_BYTES)
            .max_send_buf_size(H2_STREAM_BYTES as usize)
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT);
        builder
    }

    /// A client that went away again is no reason to wait.
    async fn pause(&self, error: &io::Error, failing: &mut Complaint) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        if matches!(
            error.kind(),
            ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
        ) {
            return;
        }
        if is_out_of_files(error) {
            self.connections.make_room();
        }
        failing.say(|times| {
            tracing::warn!(%error, times, "a connection could not be taken; going on");
        });
        tokio::time::sleep(PAUSE).await;
    }

    fn shed(&self, stream: &Stream, shed: Shed, shedding: &mut Complaint) {
        metrics::counter!("headwater_connections_shed_total", "why" => shed.name()).increment(1);
        stream.refuse(words(shed, &self.refusal_headers).as_bytes());
        let limits = &self.connections.limits;
        shedding.say(|times| match shed {
            Shed::Full => tracing::warn!(
                connections = limits.connections_max,
                times,
                "too many connections; new ones are shed (listen.connections_max, and the limit of open files)"
            ),
            Shed::Client => tracing::warn!(
                connections = limits.per_client_max,
                times,
                "too many connections from one address; new ones are shed. A proxy in front belongs into \
                 listen.trusted_proxies"
            ),
        });
    }
}

/// EMFILE, ENFILE.
fn is_out_of_files(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// An answer for whoever speaks HTTP/1; others see the connection end.
fn words(shed: Shed, headers: &str) -> String {
    let why = match shed {
        Shed::Full => "too many connections to this server; try again in a moment",
        Shed::Client => "too many connections from this address; use fewer",
    };
    refusal("503 Service Unavailable", why, &format!("retry-after: 1\r\n{headers}"))
}

/// Something that may happen thousands of times a second, and is said once a minute.
#[derive(Default)]
struct Complaint {
    said: Option<Instant>,
    times: u64,
}

const SAY_EVERY: Duration = Duration::from_secs(60);

impl Complaint {
    /// `line` gets how often it happened since it was last said.
    fn say(&mut self, line: impl FnOnce(u64)) {
        self.times += 1;
        if self.said.is_none_or(|said| said.elapsed() >= SAY_EVERY) {
            self.said = Some(Instant::now());
            line(std::mem::take(&mut self.times));
        }
    }
}
