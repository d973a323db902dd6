//! The merged configuration: defaults compiled in, then file, then environment, then flags.

mod chain_section;
mod check;
mod merge;
mod toml_error;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

pub use chain_section::{ChainSection, find_or_make, placed, table};

const DEFAULTS: &str = include_str!("../../config.default.toml");

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub listen: api::ListenConfig,
    pub store: StoreSettings,
    pub auth: Auth,
    pub api: api::Config,
    pub console: api::ConsoleConfig,
    pub price: api::PriceConfig,
    pub gateway: gateway::Config,
    pub streams: streams::Config,
    pub ingest: ingest::Config,
    pub rpc: rpc::PoolConfig,
    pub log: Log,
    pub telemetry: Telemetry,
    pub chains: std::collections::BTreeMap<String, ChainSection>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    pub path: PathBuf,
    #[serde(serialize_with = "hidden")]
    pub url: String,
    #[serde(serialize_with = "all_hidden")]
    pub read_urls: Vec<String>,
    pub connections_max: usize,
    pub memory_bytes: u64,
    pub journal_entries_min: u64,
    pub free_bytes_min: u64,
    pub commit_stall_s: u64,
    pub disk_budget_bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    #[serde(serialize_with = "hidden")]
    pub bootstrap_key: String,
    pub status: api::StatusAccess,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub filter: String,
    pub format: LogFormat,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    #[serde(serialize_with = "hidden")]
    pub otlp_url: String,
    pub service_name: String,
    pub sample_ratio: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    Text,
    Json,
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// A printed configuration tells that there is a secret, not which.
fn hidden<S: serde::Serializer>(secret: &str, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(if secret.is_empty() { "" } else { "(hidden)" })
}

fn all_hidden<S: serde::Serializer>(secrets: &[String], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(secrets.iter().map(|_| "(hidden)"))
}

/// What the command line adds.
#[derive(Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub listen: Option<String>,
    /// CHAIN=URL
    pub rpc: Vec<String>,
    /// CHAIN=N
    pub from_block: Vec<String>,
}

impl Settings {
    pub fn load(flags: &Flags) -> Result<Self> {
        let environment = std::env::vars().filter(|(name, _)| name.starts_with(merge::PREFIX));
        Self::load_with(flags, environment)
    }

    pub fn load_with(
        flags: &Flags,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self> {
        let mut table: toml::Table = DEFAULTS.parse().context("the defaults compiled in")?;
        let text = flags.config.as_deref().map(read).transpose()?;
        let file = flags.config.as_deref().zip(text.as_deref());
        if let Some((path, text)) = file {
            let top = text.parse().map_err(|error| toml_error::unreadable(path, text, &error))?;
            merge::over(&mut table, top);
        }
        for (name, value) in environment {
            merge::variable(&mut table, &name, &value)?;
        }
        let settings = toml::Value::Table(table).try_into::<Settings>();
        let mut settings = settings.map_err(|error| toml_error::misfit(&error, file))?;
        settings.apply(flags)?;
        settings.check()?;
        Ok(settings)
    }

    fn apply(&mut self, flags: &Flags) -> Result<()> {
        if let Some(data) = &flags.data {
            self.store.path.clone_from(data);
        }
        if let Some(listen) = &flags.listen {
            self.listen.all.clone_from(listen);
        }
        for flag in &flags.rpc {
            let (chain, url) = pair(flag, "--rpc", "CHAIN=URL")?;
            let section = self.chains.entry(chain.to_owned()).or_default();
            section.upstreams.push(rpc::UpstreamConfig::from_url(url));
        }
        for flag in &flags.from_block {
            let (chain, number) = pair(flag, "--from-block", "CHAIN=N")?;
            let number = number.parse().with_context(|| {
                format!("--from-block {flag}: '{number}' is not a block number")
            })?;
            self.chains.entry(chain.to_owned()).or_default().from_block = Some(number);
        }
        Ok(())
    }

    /// Files that connections to nodes may take at once.
    pub fn node_files(&self) -> u64 {
        let nodes = self.chains.values().flat_map(|section| &section.upstreams);
        let files = |node: &rpc::UpstreamConfig| {
            node.max_concurrency.unwrap_or(self.rpc.max_concurrency_per_upstream) as u64 + 4
        };
        nodes.map(files).sum()
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration file {}", path.display()))
}

pub fn pair<'a>(flag: &'a str, name: &str, form: &str) -> Result<(&'a str, &'a str)> {
    let split = flag.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty());
    // Not quoted: a URL may hold a key.
    split.with_context(|| format!("{name}: give it as {form}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)]) -> Result<Settings> {
        let variables = variables.iter().map(|(a, b)| (a.to_string(), b.to_string()));
        Settings::load_with(&Flags::default(), variables)
    }

    #[test]
    fn the_defaults_are_complete_and_agree_with_the_code() {
        let settings = load(&[]).unwrap();
        assert_eq!(settings.api, api::Config::default());
        assert_eq!(settings.listen, api::ListenConfig::default());
        assert_eq!(settings.price, api::PriceConfig::default());
        assert_eq!(settings.gateway, gateway::Config::default());
        assert_eq!(settings.ingest, ingest::Config::default());
        assert_eq!(settings.rpc, rpc::PoolConfig::default());
    }

    #[test]
    fn variables_reach_every_depth_and_keep_strings_strings() {
        let settings = load(&[
            ("HEADWATER__API__LIMIT_MAX", "200"),
            ("HEADWATER__AUTH__BOOTSTRAP_KEY", "1234567890123456e5"),
            ("HEADWATER__CHAINS__ETH__UPSTREAMS", "[\"http://127.0.0.1:8545\"]"),
            ("HEADWATER__CHAINS__ETH__FROM_BLOCK", "17"),
        ])
        .unwrap();
        assert_eq!(settings.api.limit_max, 200);
        assert_eq!(settings.auth.bootstrap_key, "1234567890123456e5");
        assert_eq!(settings.chains["eth"].from_block, Some(17));
        assert_eq!(settings.chains["eth"].upstreams.len(), 1);
    }

    #[test]
    fn what_is_unknown_or_makes_no_sense_is_named() {
        for (name, value, expected) in [
            ("HEADWATER__API__LIMITS_MAX", "1", "limits_max"),
            ("HEADWATER__API__LIMIT_MAX", "many", "limit_max"),
            ("HEADWATER__API__LIMIT_DEFAULT", "900", "api.limit_default (900)"),
            ("HEADWATER__LISTEN__ALL", "localhost", "'localhost'"),
            ("HEADWATER__LISTEN__ALL", "", "listen.all is empty"),
            ("HEADWATER__LISTEN__ADMIN", "localhost", "listen.admin"),
            ("HEADWATER__LISTEN__ADMIN", "127.0.0.1:8080", "is the port of listen.all already"),
            ("HEADWATER__LISTEN__RPC", "0.0.0.0:8080", "is the port of listen.all already"),
            ("HEADWATER__LISTEN__CONNECTIONS_MAX", "0", "listen.connections_max (0)"),
            ("HEADWATER__LISTEN__TRUSTED_PROXIES", "[\"nginx\"]", "'nginx' is neither an address"),
            ("HEADWATER__AUTH__BOOTSTRAP_KEY", "a", "too weak"),
            ("HEADWATER__AUTH__BOOTSTRAP_KEY", "aaaaaaaaaaaaaaaaaaaaaaa", "too weak"),
            ("HEADWATER__AUTH__BOOTSTRAP_KEY", "01234567/89abcdef", "do not fit into a URL"),
            ("HEADWATER__API__CURSOR_SECRET", "geheim", "api.cursor_secret is too weak"),
            ("HEADWATER__PRICE__NODE_QUESTIONS_MAX", "0", "price.node_questions_max"),
            ("HEADWATER__TELEMETRY__OTLP_URL", "collector:4318", "telemetry.otlp_url must begin"),
            ("HEADWATER__TELEMETRY__OTLP_URL", "http://c:4318/?key=a", "neither a query"),
            ("HEADWATER__TELEMETRY__SAMPLE_RATIO", "1.5", "telemetry.sample_ratio (1.5)"),
            ("HEADWATER__TELEMETRY__SERVICE_NAME", "", "telemetry.service_name is empty"),
        ] {
            let error = format!("{:#}", load(&[(name, value)]).unwrap_err());
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn a_chain_keeps_enough_blocks_for_its_reorgs() {
        let retain = |chain: &str, keep: &str| {
            let name = format!("HEADWATER__CHAINS__{chain}__RETAIN_BLOCKS");
            table(&load(&[(name.as_str(), keep)]).unwrap()).map_err(|error| format!("{error:#}"))
        };
        assert!(retain("ETH", "128").is_ok());
        assert!(retain("31337", "1000").is_ok());
        let error = retain("31337", "127").unwrap_err();
        assert!(error.contains("chains.31337.retain_blocks (127) must be at least 128"), "{error}");
        assert!(retain("ETH", "0").is_err());
    }

    #[test]
    fn a_database_of_a_chain_is_beside_one_of_all() {
        let placed_in = |chain: &str, store: &str, url: &str| {
            let name = format!("HEADWATER__CHAINS__{chain}__STORE");
            let variables = [(name.as_str(), store), ("HEADWATER__STORE__URL", url)];
            placed(&load(&variables).unwrap()).map_err(|error| format!("{error:#}"))
        };
        let (own, main) = ("postgres://me:geheim@db2/chain", "postgres://me@db1/main");
        let eth = placed_in("ETH", own, main).unwrap();
        assert_eq!(eth, [(model::chain::ChainId(1), own.to_owned())]);
        assert_eq!(placed_in("31337", own, main).unwrap()[0].0.0, 31337);
        assert_eq!(placed_in("ETH", "", "").unwrap(), []);
        let error = placed_in("ETH", own, "").unwrap_err();
        assert!(error.contains("chains.eth.store") && error.contains("store.url"), "{error}");
        let error = placed_in("ETH", "/var/lib/geheim", main).unwrap_err();
        assert!(error.contains("chains.eth.store must begin with postgres://"), "{error}");
        assert!(!error.contains("geheim"), "{error}");
        let shown = load(&[("HEADWATER__CHAINS__ETH__STORE", own)]).unwrap();
        let shown = toml::to_string(&shown).unwrap();
        assert!(shown.contains("store = \"(hidden)\"") && !shown.contains("geheim"), "{shown}");
    }

    #[test]
    fn a_printed_configuration_hides_secrets() {
        let mut settings = load(&[
            ("HEADWATER__AUTH__BOOTSTRAP_KEY", "geheim-0123456789"),
            ("HEADWATER__API__CURSOR_SECRET", "geheim-9876543210"),
        ])
        .unwrap();
        let flags =
            Flags { rpc: vec!["eth=https://node.example/geheim".into()], ..Flags::default() };
        settings.apply(&flags).unwrap();
        let text = toml::to_string(&settings).unwrap();
        assert!(!text.contains("geheim"), "{text}");
        assert!(!format!("{:?}", settings.api).contains("geheim"));
        assert!(text.contains("node.example"), "{text}");
    }
}
