//! One hash over everything that blocks wrote for a chain: two stores that indexed the same chain
//! in different ways, with reorgs and restarts between, must agree on it.

use std::borrow::Cow;

use alloy_primitives::{B256, Keccak256};
use model::chain::ChainId;
use model::proof::Proof;

use crate::Error;
use crate::embedded::codec::rows::{pack_header, unpack_header, with_hashes, without_roots};
use crate::embedded::keys;
use crate::embedded::read::View;
use crate::embedded::segments::Kind;

/// The journal is history, and so is what its readers keep; tokens that were learned of on a branch that is
/// gone stay known, and so do pools of blocks that were pruned; where a body lies says nothing of the block, whose
/// rows count by the tables that they once had; what is untraced follows from the headers, as three indexes follow from
/// transactions and logs, which `check` sees to; what was carried over tells of blocks that are gone; streams are
/// their tenants'.
const NOT_OF_BLOCKS: [&str; 33] = [
    "index_files",
    "index_runs",
    "bodies",
    "unfrozen",
    "segments",
    "dictionaries",
    "journal",
    "readers",
    "reader_rows",
    "untraced",
    "tx_by_hash",
    "log_words",
    "receiptless",
    "api_keys",
    "meta",
    "pools",
    "told_pools",
    "carried_pools",
    "tokens",
    "generations",
    "streams",
    "stream_queues",
    "stream_addresses",
    "stream_settings",
    "stream_matches",
    "stream_matches_by_block",
    "deliveries",
    "delivery_states",
    "delivery_bodies",
    "delivery_due",
    "delivery_ends",
    "stream_attempts",
    "stream_failed",
];

/// Rows of a chain as they come by, table by table in the order of `Tables::all`, each sorted by key.
pub struct ChainDigest {
    chain: ChainId,
    generation: u8,
    hasher: Keccak256,
}

impl ChainDigest {
    pub fn new(view: &View, chain: ChainId) -> Result<Self, Error> {
        Ok(ChainDigest::of(chain, view.generations(chain)?.current))
    }

    /// For rows that come from elsewhere.
    pub fn of(chain: ChainId, generation: u8) -> Self {
        ChainDigest { chain, generation, hasher: Keccak256::new() }
    }

    /// What keys of the table begin with, if its rows count; to be called once for each.
    pub fn begin(&mut self, table: &'static str) -> Option<Vec<u8>> {
        if NOT_OF_BLOCKS.contains(&table) {
            return None;
        }
        self.hasher.update(table);
        let is_fact = matches!(table, "facts" | "nft_trades" | "nft_lowest" | "pool_states");
        Some(if is_fact {
            keys::of_facts(self.chain, self.generation).to_vec()
        } else {
            keys::chain(self.chain).to_vec()
        })
    }

    /// `key` is without what `begin` gave: of generations there may have been more or fewer.
    pub fn add(&mut self, table: &'static str, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let broken = Error::Broken { what: table };
        let value = match table {
            "headers" => {
                let number = keys::last_number(key).unwrap_or_default();
                let (mut summary, header) = unpack_header(number, value).ok_or(broken)?;
                summary.proof = summary.proof.without(Proof::SENDERS).without(Proof::FORMS);
                Cow::Owned(pack_header(&summary, &header))
            }
            "txs" => {
                let group = keys::place_of_group(key);
                let whole = group
                    .and_then(|(number, group)| with_hashes((self.chain, number, group), value));
                Cow::Owned(whole.ok_or(broken)?)
            }
            "traces" => Cow::Owned(without_roots(value).ok_or(broken)?),
            _ => Cow::Borrowed(value),
        };
        if table == "traces" && value.is_empty() {
            return Ok(());
        }
        for part in [key, &*value] {
            self.hasher.update((part.len() as u64).to_be_bytes());
            self.hasher.update(part);
        }
        Ok(())
    }

    pub fn finish(self) -> B256 {
        self.hasher.finalize()
    }
}

impl View {
    /// Left out, too: how many senders were checked, which depends on whether a block was met at the head or in
    /// the past; whether hashes of transactions are in their rows; and roots of traces, which are kept only where a
    /// node wrote traces in a form that is known. Counts are those of all wallets, whether they are stored or not.
    pub fn digest(&self, chain: ChainId) -> Result<B256, Error> {
        let mut digest = ChainDigest::new(self, chain)?;
        for (name, table) in self.tables.all() {
            let Some(prefix) = digest.begin(name) else { continue };
            let mut add = |key: &[u8], value: &[u8]| {
                digest.add(name, key.get(prefix.len()..).unwrap_or_default(), value)
            };
            if let Some(kind) = Kind::of_table(name) {
                for row in self.body_rows(kind, &prefix) {
                    let (key, value) = row?;
                    add(&key, &value)?;
                }
                continue;
            }
            if name == "wallet_counts" {
                for row in self.all_wallet_counts(&prefix) {
                    let (key, count) = row?;
                    add(&key, &count.pack())?;
                }
                continue;
            }
            for item in self.snapshot.prefix(table, &prefix) {
                let (key, value) = item.into_inner()?;
                add(&key, &value)?;
            }
        }
        Ok(digest.finish())
    }
}
