//! What an operator may set about the HTTP server.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::profile::Profile;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Serialisation where the request does not choose: `spec` or `live`.
    pub wire_profile: Profile,
    /// Page size where the request does not say, and the largest it may ask for.
    pub limit_default: u32,
    pub limit_max: u32,
    /// How long a cursor may be used.
    pub cursor_ttl_s: u64,
    /// What cursors are sealed with, for servers that do not share a store; empty: a secret of the store.
    pub cursor_secret: CursorSecret,
    pub body_bytes_max: usize,
    pub request_timeout_ms: u64,
    /// Bytes of large answers that may be in memory at once, over all clients. Past that an answer waits, and is
    /// then refused with 503.
    pub response_bytes_in_flight_max: u64,
    /// Memory for cached responses; 0 caches none.
    pub answer_cache_bytes: u64,
    /// Answers at least this long are packed for clients that take it; 0 packs none.
    pub compress_from_bytes: u64,
    /// CSV files with the columns address, label, entity, logo.
    pub labels: Vec<PathBuf>,
    /// CSV files of NFT contracts that answers call verified: an address a line, or chain and address.
    pub verified_collections: Vec<PathBuf>,
    /// Compute units per second and key; 0 is no limit.
    pub units_per_second: u32,
    /// Whether pages in browsers may ask, whatever site they come from.
    pub cors: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            wire_profile: Profile::Spec,
            limit_default: 100,
            limit_max: 500,
            cursor_ttl_s: 30 * 24 * 3600,
            cursor_secret: CursorSecret::default(),
            body_bytes_max: 5 << 20,
            request_timeout_ms: 30_000,
            response_bytes_in_flight_max: 256 << 20,
            answer_cache_bytes: 64 << 20,
            compress_from_bytes: 1024,
            labels: Vec::new(),
            verified_collections: Vec::new(),
            units_per_second: 0,
            cors: true,
        }
    }
}

/// Any text; never shown.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct CursorSecret(pub String);

impl CursorSecret {
    fn shown(&self) -> &'static str {
        if self.0.is_empty() { "" } else { "(hidden)" }
    }
}

impl std::fmt::Debug for CursorSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.shown())
    }
}

impl Serialize for CursorSecret {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.shown())
    }
}

/// Who may see /status and /metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatusAccess {
    /// Anyone who reaches the listener.
    #[default]
    Open,
    /// Keys with the admin role.
    Key,
}

/// How tokens are priced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PriceConfig {
    /// Either side of a pool has to be worth this much for the pool to count, where the request does not say.
    pub min_pair_side_liquidity_usd: u64,
    /// Token lists (JSON) with names, decimals and logos.
    pub token_lists: Vec<PathBuf>,
    /// Questions to contracts under way at once, over all chains, and how long one may take.
    pub node_questions_max: usize,
    pub node_timeout_ms: u64,
}

impl Default for PriceConfig {
    fn default() -> Self {
        PriceConfig {
            min_pair_side_liquidity_usd: 50,
            token_lists: Vec::new(),
            node_questions_max: 16,
            node_timeout_ms: 10_000,
        }
    }
}
