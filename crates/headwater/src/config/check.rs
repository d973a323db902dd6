//! What a server would refuse: settings that make no sense by themselves. What needs files or nodes' URLs is
//! checked where it is read.

use std::net::SocketAddr;

use anyhow::{Result, ensure};

use super::Settings;

/// The calls of one batch that are answered at once have to fit.
const IN_FLIGHT_BYTES_MIN: u64 = 16 << 20;
/// With less, what waits to be written is written in pieces too small to be merged well.
const MEMORY_BYTES_MIN: u64 = 64 << 20;
/// Short keys are guessed: sixteen characters of hex are 64 bits.
const KEY_CHARS_MIN: usize = 16;
/// "aaaaaaaaaaaaaaaa" is no key, either.
const KEY_LETTERS_MIN: usize = 6;

/// More would be a load of its own; `headwater audit` goes as fast as the nodes do.
const AUDITS_PER_MINUTE_MAX: u32 = 600;

impl Settings {
    pub(super) fn check(&self) -> Result<()> {
        self.check_numbers()?;
        self.check_listeners()?;
        self.check_key()?;
        let url = &self.store.url;
        // Not quoted: it may hold a password.
        ensure!(
            url.is_empty() || super::is_postgres(url),
            "store.url must be empty or begin with postgres:// or postgresql://"
        );
        ensure!(
            self.store.read_urls.iter().all(|url| super::is_postgres(url)),
            "each of store.read_urls must begin with postgres:// or postgresql://"
        );
        ensure!(
            self.store.read_urls.is_empty() || !url.is_empty(),
            "store.read_urls are replicas of the database of store.url, and that is empty"
        );
        ensure!(
            (2..=1000).contains(&self.store.connections_max),
            "store.connections_max ({}) must be from 2 to 1000",
            self.store.connections_max
        );
        self.check_telemetry()?;
        let store = &self.store.path;
        ensure!(!store.as_os_str().is_empty(), "store.path is empty");
        ensure!(
            !store.exists() || store.is_dir(),
            "store.path {} is not a folder",
            store.display()
        );
        Ok(())
    }

    fn check_telemetry(&self) -> Result<()> {
        let telemetry = &self.telemetry;
        if !telemetry.otlp_url.is_empty() {
            crate::otlp::traces_url(&telemetry.otlp_url)?;
        }
        ensure!(
            (0.0..=1.0).contains(&telemetry.sample_ratio),
            "telemetry.sample_ratio ({}) must be from 0 to 1",
            telemetry.sample_ratio
        );
        ensure!(!telemetry.service_name.is_empty(), "telemetry.service_name is empty");
        Ok(())
    }

    fn check_numbers(&self) -> Result<()> {
        let (api, price) = (&self.api, &self.price);
        ensure!(
            (1..=api.limit_max).contains(&api.limit_default),
            "api.limit_default ({}) must be from 1 to api.limit_max ({})",
            api.limit_default,
            api.limit_max
        );
        for (name, value) in [
            ("gateway.batch_max", self.gateway.batch_max as u64),
            ("gateway.quorum", self.gateway.quorum as u64),
            ("api.body_bytes_max", api.body_bytes_max as u64),
            ("api.request_timeout_ms", api.request_timeout_ms),
            ("gateway.batch_bytes_max", self.gateway.batch_bytes_max as u64),
            ("price.node_questions_max", price.node_questions_max as u64),
            ("price.node_timeout_ms", price.node_timeout_ms),
            ("rpc.timeout_ms", self.rpc.timeout_ms),
            ("rpc.response_bytes_max", self.rpc.response_bytes_max as u64),
            ("rpc.client_response_bytes_max", self.rpc.client_response_bytes_max as u64),
            ("rpc.ingest_bytes_in_flight_max", self.rpc.ingest_bytes_in_flight_max as u64),
            ("rpc.client_bytes_in_flight_max", self.rpc.client_bytes_in_flight_max as u64),
            ("store.commit_stall_s", self.store.commit_stall_s),
            ("ingest.revert_second_word_ms", self.ingest.revert_second_word_ms),
        ] {
            ensure!(value > 0, "{name} must be at least 1");
        }
        ensure!(
            self.store.memory_bytes >= MEMORY_BYTES_MIN,
            "store.memory_bytes ({}) must be at least {MEMORY_BYTES_MIN}",
            self.store.memory_bytes
        );
        ensure!(
            self.ingest.audit <= AUDITS_PER_MINUTE_MAX,
            "ingest.audit ({}) must be at most {AUDITS_PER_MINUTE_MAX} a minute",
            self.ingest.audit
        );
        for (name, chain) in &self.chains {
            let waits = chain.upstreams.iter().all(|node| node.timeout_ms != Some(0));
            ensure!(waits, "chains.{name}.upstreams: timeout_ms must be at least 1");
        }
        ensure!(
            api.response_bytes_in_flight_max >= IN_FLIGHT_BYTES_MIN,
            "api.response_bytes_in_flight_max ({}) must be at least {IN_FLIGHT_BYTES_MIN}",
            api.response_bytes_in_flight_max
        );
        self.streams.check().map_err(anyhow::Error::msg)?;
        self.console.check().map_err(anyhow::Error::msg)?;
        self.listen.check().map_err(anyhow::Error::msg)
    }

    fn check_listeners(&self) -> Result<()> {
        let listen = &self.listen;
        let all = [
            ("all", &listen.all),
            ("data", &listen.data),
            ("rpc", &listen.rpc),
            ("streams", &listen.streams),
            ("admin", &listen.admin),
            ("console", &listen.console),
        ];
        ensure!(!listen.all.is_empty(), "listen.all is empty; give IP:PORT");
        let mut seen: Vec<(&str, SocketAddr)> = Vec::new();
        for (name, text) in all.into_iter().filter(|(_, text)| !text.is_empty()) {
            let Ok(address) = text.parse::<SocketAddr>() else {
                anyhow::bail!("listen.{name}: listen address '{text}' is not of the form IP:PORT");
            };
            let other = seen.iter().find(|(_, other)| clash(*other, address));
            if let Some((other, _)) = other {
                anyhow::bail!("listen.{name} ({text}) is the port of listen.{other} already");
            }
            seen.push((name, address));
        }
        Ok(())
    }

    fn check_key(&self) -> Result<()> {
        check_strength("api.cursor_secret", &self.api.cursor_secret.0)?;
        let key = &self.auth.bootstrap_key;
        check_strength("auth.bootstrap_key", key)?;
        ensure!(
            key.chars().all(|c| c.is_ascii_graphic() && !"/?#%\\\"".contains(c)),
            "auth.bootstrap_key has characters that do not fit into a URL's path; use letters, digits, - and _"
        );
        Ok(())
    }
}

/// One that is not set is none.
fn check_strength(name: &str, secret: &str) -> Result<()> {
    let mut letters: Vec<char> = secret.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let is_strong = secret.chars().count() >= KEY_CHARS_MIN && letters.len() >= KEY_LETTERS_MIN;
    ensure!(
        secret.is_empty() || is_strong,
        "{name} is too weak: at least {KEY_CHARS_MIN} characters, {KEY_LETTERS_MIN} of them different; \
         `openssl rand -hex 32` makes a good one"
    );
    Ok(())
}

/// The same port twice, unless the system chooses it; the address of all stands for each.
fn clash(one: SocketAddr, other: SocketAddr) -> bool {
    let any = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() != 0 && one.port() == other.port() && (any || one.ip() == other.ip())
}
