//! POSTs without TLS to receivers whose address is in the URL, or a name of this network: by connections of our own, since
//! that is where what the client costs counts (docs/adr/0024). Other receivers are reached by the HTTP library.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plain_http::{Connection, IdleConnections, ReplyHead, Room, Written};
use reqwest::Url;
use reqwest::header::HeaderMap;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::target::{Guard, IDLE, Lookup, USER_AGENT};

pub(super) struct PlainReceiver {
    host: Host,
    port: u16,
    /// Of every request, up to what differs between deliveries.
    head: Vec<u8>,
    idle: Arc<IdleConnections>,
}

enum Host {
    Address(IpAddr),
    Name(String),
}

pub(super) enum NotSent {
    Connect(String),
    Interrupted(String),
}

/// Who says which addresses may be talked to.
#[derive(Clone, Copy)]
pub(super) struct Resolver<'a> {
    pub guard: &'a Guard,
    pub lookup: &'a dyn Lookup,
}

impl PlainReceiver {
    /// None for a URL that needs more than this can do.
    pub fn new(url: &Url, connections: &Connections) -> Option<Self> {
        let (host, port) = (url.host_str()?, url.port_or_known_default()?);
        let known = match host.trim_matches(['[', ']']).parse() {
            Ok(address) => Host::Address(address),
            Err(_) => Host::Name(host.to_owned()),
        };
        // Of a name with several addresses not all may answer: the library tries them side by side.
        let is_near = !matches!(&known, Host::Name(name) if name.contains('.'));
        if url.scheme() != "http" || !is_near {
            return None;
        }
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let authority = url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
        let head = format!(
            "POST {}{query} HTTP/1.1\r\nhost: {authority}\r\nuser-agent: {USER_AGENT}\r\naccept: */*\r\n",
            url.path()
        );
        let idle = connections.of(&format!("{host}:{port}"));
        Some(PlainReceiver { host: known, port, head: head.into_bytes(), idle })
    }

    /// The body of the reply is to be received next.
    pub async fn send(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        resolver: Resolver<'_>,
    ) -> Result<(Connection, ReplyHead), NotSent> {
        let head = self.head_with(headers, body.len());
        let mut connection = self.sent(&head, body, resolver).await?;
        match connection.receive_head().await {
            Ok(reply) => Ok((connection, reply)),
            Err(error) => Err(NotSent::Interrupted(error.to_string())),
        }
    }

    /// By a connection that is there, or by a new one. One that the receiver closed meanwhile is found out by using it.
    async fn sent(
        &self,
        head: &[u8],
        body: &[u8],
        resolver: Resolver<'_>,
    ) -> Result<Connection, NotSent> {
        while let Some(mut connection) = self.idle.take(Instant::now()) {
            match connection.send(head, body).await {
                Written::All => return Ok(connection),
                Written::Nothing(_) => {}
                Written::Some(error) => return Err(NotSent::Interrupted(error.to_string())),
            }
        }
        let mut connection = Box::pin(self.connect(resolver)).await.map_err(NotSent::Connect)?;
        match connection.send(head, body).await {
            Written::All => Ok(connection),
            Written::Nothing(error) | Written::Some(error) => {
                Err(NotSent::Interrupted(error.to_string()))
            }
        }
    }

    /// To an address that was checked just now: nothing can change between the check and the connection.
    async fn connect(&self, resolver: Resolver<'_>) -> Result<Connection, String> {
        let addresses = match &self.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => resolver.lookup.lookup(name).await.map_err(|e| e.to_string())?,
        };
        let mut failed = String::new();
        for address in resolver.guard.open_addresses(addresses)? {
            match TcpStream::connect((address, self.port)).await {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(Connection::new(stream));
                }
                Err(error) => failed = error.to_string(),
            }
        }
        Err(failed)
    }

    fn head_with(&self, headers: &HeaderMap, body_bytes: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(self.head.len() + 1024);
        head.extend_from_slice(&self.head);
        for (name, value) in headers {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        head.extend_from_slice(b"content-length: ");
        head.extend_from_slice(itoa::Buffer::new().format(body_bytes).as_bytes());
        head.extend_from_slice(b"\r\n\r\n");
        head
    }

    /// Reads the rest of the reply, as far as anybody wants it, so that the connection can be used again.
    pub async fn finish(&self, mut connection: Connection, reply: &ReplyHead, bytes_max: usize) {
        let body = connection.receive_body(reply, &mut AtMost(bytes_max)).await;
        if body.is_ok() {
            self.idle.keep(connection, Instant::now());
        }
    }
}

struct AtMost(usize);

impl Room for AtMost {
    type Full = ();

    fn grow_to(&mut self, bytes: usize) -> Result<(), ()> {
        if bytes > self.0 { Err(()) } else { Ok(()) }
    }
}

/// Those that wait for the next request, by receiver: URLs of one host share them.
#[derive(Default)]
pub(super) struct Connections(Mutex<HashMap<String, Arc<IdleConnections>>>);

impl Connections {
    fn of(&self, host: &str) -> Arc<IdleConnections> {
        let new = || Arc::new(IdleConnections::new(IDLE));
        self.lock().entry(host.to_owned()).or_insert_with(new).clone()
    }

    /// Closes those that nobody needed for long, and forgets receivers without any.
    pub fn close_old(&self) {
        let now = Instant::now();
        self.lock().retain(|_, idle| idle.close_old(now) > 0 || Arc::strong_count(idle) > 1);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<IdleConnections>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn receiver(url: &str) -> Option<PlainReceiver> {
        PlainReceiver::new(&Url::parse(url).unwrap(), &Connections::default())
    }

    #[test]
    fn receivers_near_by_need_no_library_and_all_others_do() {
        for (url, is_plain) in [
            ("http://127.0.0.1:8080/hook", true),
            ("http://[::1]/hook", true),
            ("http://203.0.113.7/hook", true),
            ("http://localhost:3000/", true),
            ("http://app/", true),
            ("http://receiver.example/", false),
            ("https://127.0.0.1/", false),
            ("https://receiver.example/", false),
        ] {
            assert_eq!(receiver(url).is_some(), is_plain, "{url}");
        }
    }

    #[test]
    fn a_request_says_where_it_goes_and_how_long_it_is() {
        let mut headers = HeaderMap::new();
        headers.insert("x-sequence", HeaderValue::from_static("7"));
        for (url, line, host) in [
            ("http://127.0.0.1:8080/a%20b?c=d#e", "POST /a%20b?c=d HTTP/1.1", "127.0.0.1:8080"),
            ("http://[::1]:80", "POST / HTTP/1.1", "[::1]"),
            ("http://app:81/\r\nx: y", "POST /x:%20y HTTP/1.1", "app:81"),
        ] {
            let head = String::from_utf8(receiver(url).unwrap().head_with(&headers, 12)).unwrap();
            let lines: Vec<&str> = head.split("\r\n").collect();
            let host = format!("host: {host}");
            let agent = format!("user-agent: {USER_AGENT}");
            let said = [line, &host, &agent, "accept: */*", "x-sequence: 7", "content-length: 12"];
            assert_eq!(lines, [said.as_slice(), &["", ""]].concat(), "{url}");
        }
    }

    #[test]
    fn hosts_share_connections_and_are_forgotten_when_nobody_sends_to_them() {
        let connections = Connections::default();
        let [one, two] = ["http://app/1", "http://app/2"]
            .map(|url| PlainReceiver::new(&Url::parse(url).unwrap(), &connections).unwrap());
        assert!(Arc::ptr_eq(&one.idle, &two.idle));
        connections.close_old();
        assert_eq!(connections.lock().len(), 1);
        drop((one, two));
        connections.close_old();
        assert!(connections.lock().is_empty());
    }
}
