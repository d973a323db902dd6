//! Where the server listens, and how much a stranger may take of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client_address::AddressRange;

/// A head that is smaller than this cannot be limited: the HTTP library's own buffer is that large.
const HEADER_BYTES_MIN: usize = 8 << 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListenConfig {
    /// One listener for all hosts, less those that have their own below.
    pub all: String,
    pub data: String,
    pub rpc: String,
    pub streams: String,
    pub admin: String,
    pub console: String,
    /// Connections open at once, over all listeners; less where the file limit is low.
    pub connections_max: usize,
    /// Of them from one client's address, or one /64 network of IPv6. Also requests under way at once that
    /// trusted proxies pass on for one address.
    pub connections_per_address_max: usize,
    /// Addresses and networks whose `X-Forwarded-For` is believed, and which are not counted as one client.
    pub trusted_proxies: Vec<AddressRange>,
    /// A new connection has sent its first request's head after this long, and any head that was begun is complete.
    pub header_timeout_ms: u64,
    /// The largest head of a request.
    pub header_bytes_max: usize,
    /// How long a connection stays open with nothing asked.
    pub idle_timeout_ms: u64,
    /// A request's body has arrived after this long.
    pub body_timeout_ms: u64,
    /// A client that takes nothing of its answer for this long is cut off.
    pub send_timeout_ms: u64,
    /// And one that takes less than this, measured over `send_timeout_ms`.
    pub send_bytes_per_second_min: u64,
    /// Requests at once in one HTTP/2 connection.
    pub h2_streams_max: u32,
    /// After the word to stop: how long requests are still taken while /health/ready says 503.
    pub drain_notice_ms: u64,
    /// And then how long those under way may take to end.
    pub drain_timeout_ms: u64,
}

impl Default for ListenConfig {
    fn default() -> Self {
        ListenConfig {
            all: "127.0.0.1:8080".into(),
            data: String::new(),
            rpc: String::new(),
            streams: String::new(),
            admin: String::new(),
            console: String::new(),
            connections_max: 10_000,
            connections_per_address_max: 512,
            trusted_proxies: Vec::new(),
            header_timeout_ms: 15_000,
            header_bytes_max: 16 << 10,
            idle_timeout_ms: 75_000,
            body_timeout_ms: 20_000,
            send_timeout_ms: 20_000,
            send_bytes_per_second_min: 8 << 10,
            h2_streams_max: 64,
            drain_notice_ms: 3_000,
            drain_timeout_ms: 15_000,
        }
    }
}

impl ListenConfig {
    /// What no server could run with. Nothing here means "no limit": every one has to be a number.
    pub fn check(&self) -> Result<(), String> {
        let numbers = [
            ("connections_max", self.connections_max as u64, 1),
            ("connections_per_address_max", self.connections_per_address_max as u64, 1),
            ("header_timeout_ms", self.header_timeout_ms, 1),
            ("header_bytes_max", self.header_bytes_max as u64, HEADER_BYTES_MIN as u64),
            ("idle_timeout_ms", self.idle_timeout_ms, 1),
            ("body_timeout_ms", self.body_timeout_ms, 1),
            ("send_timeout_ms", self.send_timeout_ms, 1),
            ("send_bytes_per_second_min", self.send_bytes_per_second_min, 1),
            ("h2_streams_max", u64::from(self.h2_streams_max), 1),
            ("drain_timeout_ms", self.drain_timeout_ms, 1),
        ];
        for (name, value, least) in numbers {
            if value < least {
                return Err(format!("listen.{name} ({value}) must be at least {least}"));
            }
        }
        Ok(())
    }

    pub(crate) fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.body_timeout_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_unlimited_by_a_zero() {
        assert_eq!(ListenConfig::default().check(), Ok(()));
        let none = ListenConfig { connections_max: 0, ..ListenConfig::default() };
        assert!(none.check().unwrap_err().contains("listen.connections_max (0)"));
        let none = ListenConfig { send_timeout_ms: 0, ..ListenConfig::default() };
        assert!(none.check().unwrap_err().contains("listen.send_timeout_ms (0)"));
        let small = ListenConfig { header_bytes_max: 100, ..ListenConfig::default() };
        assert!(small.check().unwrap_err().contains("at least 8192"));
        let at_once = ListenConfig { drain_notice_ms: 0, ..ListenConfig::default() };
        assert_eq!(at_once.check(), Ok(()), "no notice is a choice");
    }
}
