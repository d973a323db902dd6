//! Strangers who connect and do no good: silent ones, ones that send a head byte by byte, ones that ask and
//! never read, ones that begin HTTP/2 and stop there. Whoever is cut off comes back.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Between two bytes of a head, and before whoever was cut off comes back.
const DRIBBLE: Duration = Duration::from_millis(200);
const COME_BACK: Duration = Duration::from_secs(1);
/// Requests that are sent at once and whose answers nobody reads.
const UNREAD_REQUESTS: usize = 200;
/// What a client's side of the connection holds, so that the server's side fills up soon.
const RECEIVE_BYTES: u32 = 4096;
const H2_BEGINNING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// What they met so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub connected: u64,
    /// Connections that the server ended.
    pub ended: u64,
    /// Attempts that did not even become a connection.
    pub failed: u64,
}

#[derive(Default)]
struct Counts {
    connected: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
}

/// They go on until this is dropped.
pub struct Strangers {
    counts: Arc<Counts>,
    _tasks: JoinSet<()>,
}

#[derive(Clone, Copy)]
enum StrangerKind {
    Silent,
    Dribbling,
    NeverReading,
    HalfH2,
}

const KINDS: [StrangerKind; 4] = [
    StrangerKind::Silent,
    StrangerKind::Dribbling,
    StrangerKind::NeverReading,
    StrangerKind::HalfH2,
];

impl Strangers {
    /// So many at once, from so many addresses of this machine (127.0.1.1 and up).
    pub fn start(server: SocketAddr, connections: usize, addresses: usize) -> Self {
        let counts = Arc::new(Counts::default());
        let mut tasks = JoinSet::new();
        for (number, kind) in KINDS.iter().cycle().take(connections).enumerate() {
            let (counts, kind) = (counts.clone(), *kind);
            let last = u8::try_from(number % addresses.clamp(1, 250)).unwrap_or(0) + 1;
            let from = SocketAddr::from((Ipv4Addr::new(127, 0, 1, last), 0));
            tasks.spawn(async move {
                loop {
                    match connect(from, server).await {
                        Ok(stream) => {
                            counts.connected.fetch_add(1, Ordering::Relaxed);
                            // However it ended: the server did it.
                            let _ = kind.bother(stream).await;
                            counts.ended.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(_) => {
                            counts.failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    tokio::time::sleep(COME_BACK).await;
                }
            });
        }
        Strangers { counts, _tasks: tasks }
    }

    pub fn tally(&self) -> Tally {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Tally {
            connected: get(&self.counts.connected),
            ended: get(&self.counts.ended),
            failed: get(&self.counts.failed),
        }
    }
}

async fn connect(from: SocketAddr, server: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    socket.bind(from)?;
    socket.connect(server).await
}

impl StrangerKind {
    /// Ends when the server ends the connection.
    async fn bother(self, mut stream: TcpStream) -> io::Result<()> {
        match self {
            StrangerKind::Silent => until_closed(&mut stream).await,
            StrangerKind::HalfH2 => {
                stream.write_all(H2_BEGINNING).await?;
                until_closed(&mut stream).await
            }
            StrangerKind::Dribbling => {
                stream.write_all(b"GET /status HTTP/1.1\r\nhost: server\r\nx-long: ").await?;
                dribble(&mut stream).await
            }
            StrangerKind::NeverReading => {
                let requests =
                    b"GET /status HTTP/1.1\r\nhost: server\r\n\r\n".repeat(UNREAD_REQUESTS);
                stream.write_all(&requests).await?;
                dribble(&mut stream).await
            }
        }
    }
}

async fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut bytes = [0u8; 1024];
    while stream.read(&mut bytes).await? > 0 {}
    Ok(())
}

/// A byte now and then, and never a look at what comes back.
async fn dribble(stream: &mut TcpStream) -> io::Result<()> {
    loop {
        match stream.try_write(b"x") {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => tokio::time::sleep(DRIBBLE).await,
        }
    }
}
