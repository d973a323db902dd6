//! The HTTP client of webhooks: it connects only to what the guard lets through, follows nothing, and asks no
//! environment for a proxy.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;

use super::guard::Guard;
use super::lookup::Lookup;
use super::resolver::GuardedResolver;

pub const USER_AGENT: &str = concat!("headwater/", env!("CARGO_PKG_VERSION"));
/// Widespread servers close a connection after five seconds without a request; who sends on it at that
/// moment gets no answer.
pub const IDLE: Duration = Duration::from_secs(4);
/// A connection that is shared by many requests must be known to be alive.
const PING: Duration = Duration::from_secs(10);

pub fn client(guard: Guard, lookup: Arc<dyn Lookup>) -> Result<Client, reqwest::Error> {
    Client::builder()
        .user_agent(USER_AGENT)
        .dns_resolver(Arc::new(GuardedResolver { guard, lookup }))
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        // Of an answer only its status counts.
        .no_gzip()
        .pool_idle_timeout(IDLE)
        .http2_keep_alive_interval(PING)
        .http2_keep_alive_timeout(PING)
        .tcp_nodelay(true)
        .build()
}
