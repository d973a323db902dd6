//! The list of tables and how each is tuned. Names are written to disk and never reused.

use std::path::Path;

use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry};
use fjall::{CompressionType, Database, KeyspaceCreateOptions};

use super::engine::Table;
use crate::Error;

/// What a table holds decides how it is stored.
#[derive(Clone, Copy)]
enum Shape {
    /// Rows of hundreds of bytes, read one at a time.
    Rows,
    /// The same, packed already: packing them again would gain nothing.
    PackedRows,
    /// Small rows, looked up by their whole key.
    Index,
    /// Keys with little or nothing behind them, only ever read as runs: a filter would say nothing.
    Run,
    /// A handful of rows.
    Small,
}

macro_rules! tables {
    ($($(#[$doc:meta])* $field:ident: $shape:ident,)+) => {
        /// Every table, by the name it has on disk.
        pub struct Tables {
            $($(#[$doc])* pub $field: Table,)+
        }

        impl Tables {
            pub fn open(db: (&Database, &Path), memtable_bytes: u64) -> Result<Self, Error> {
                Ok(Tables { $($field: Table::open(db, stringify!($field), || options(Shape::$shape, memtable_bytes))?,)+ })
            }

            pub fn all(&self) -> Vec<(&'static str, &Table)> {
                vec![$((stringify!($field), &self.$field),)+]
            }
        }
    };
}

tables! {
    /// chain, number → summary (hash, time, proof), header.
    headers: Rows,
    /// chain, hash → number.
    block_by_hash: Index,
    /// chain, timestamp, number → nothing.
    block_by_time: Run,
    /// chain, number → where the block's body lies: its transactions, receipts, logs and traces, packed; or the
    /// body itself, near the head. Absent where the block has no transactions.
    bodies: Rows,
    /// chain, number → nothing: blocks whose body is in the row above.
    unfrozen: Run,
    /// segment → its chain, its length, how much of it is alive.
    segments: Small,
    /// dictionary → chain, kind of rows, bytes.
    dictionaries: Small,
    /// chain, number, group → its block (hash, time), then each transaction and its receipt without logs. This and
    /// the next two were of formats before 5, and are empty; rows of a body are still told of by these names.
    txs: Rows,
    /// chain, number, group → the logs of each transaction; absent where none has any.
    logs: Rows,
    /// chain, number, group → frames below the root of each transaction; absent where none has any.
    traces: Rows,
    /// chain, address, !number, !index → nothing: sender, receiver, created.
    wallet_txs: Run,
    /// The same for wallets that take part only inside.
    wallet_internal: Run,
    /// chain, seq → the blocks of a commit whose rows of `wallet_txs`, `wallet_internal`, `tx_by_hash` and `log_words` are
    /// not in a file yet.
    index_runs: Small,
    /// file → its chain, its blocks, what was written: rows of the same four tables, of blocks that were stored in bulk.
    index_files: Small,
    /// chain, address, level, bucket → how many rows of both kinds. Of wallets with many rows only.
    wallet_counts: Index,
    /// chain, generation, number → trades, and the pools whose state changed; absent where nothing
    /// was found.
    facts: Rows,
    /// chain, generation, contract, market or any, !number, !place among the block's trades → nothing.
    nft_trades: Run,
    /// chain, generation, contract, market or any, level, bucket, price, number, place → nothing.
    nft_lowest: Run,
    /// chain, generation, token, other token, pool → pool. There while a stored block tells of it.
    pools: Run,
    /// chain, generation, pool, !number → how the block left the pool.
    pool_states: Run,
    /// chain, pool → block, state: how the newest pruned block that changed the pool left it.
    carried_pools: Index,
    /// chain, address → what a token calls itself, and who said so. Asked of a node, not of blocks.
    tokens: Index,
    /// chain → the generation of facts in use, the one being built, and who decoded them.
    generations: Small,
    /// chain, !number → nothing: blocks with transactions and without traces.
    untraced: Run,
    /// chain, seq → apply, revert or amend, number, hash, origin.
    journal: Small,
    /// chain, name → how far a reader of the journal came.
    readers: Small,
    /// chain, name, the reader's own key → the reader's own value.
    reader_rows: Index,
    /// SHA-256 of an API key → whose it is and what it may do.
    api_keys: Small,
    /// stream → whose it is, and its body.
    streams: Small,
    /// stream → whose it is, where its queue stands, what it added up to, how many addresses it has. Outlives
    /// the stream until all that hangs on it is removed.
    stream_queues: Index,
    /// stream, address → nothing.
    stream_addresses: Index,
    /// tenant → what it set for all its streams.
    stream_settings: Small,
    /// stream, chain, number → a match that waits for its block to be confirmed, with its bodies.
    stream_matches: PackedRows,
    /// chain, number, stream → nothing.
    stream_matches_by_block: Run,
    /// stream, seq → all of a delivery that never changes, but for its body.
    deliveries: Index,
    /// stream, seq → how far its attempts came; absent before the first.
    delivery_states: Index,
    /// stream, seq → the body as it is first sent.
    delivery_bodies: PackedRows,
    /// stream, when its next attempt is due, seq → nothing. By stream, so that those that are not to be sent are
    /// passed over in one step each, however much they have.
    delivery_due: Run,
    /// when it ended, stream, seq → nothing: deliveries that wait for no attempt.
    delivery_ends: Run,
    /// tenant, !when, stream, !seq, !retries → one attempt.
    stream_attempts: Run,
    /// The same of the last attempt of each delivery, where it failed.
    stream_failed: Run,
    /// chain → block ranges.
    coverage: Small,
    /// What the store knows of itself: format version, secrets of this installation.
    meta: Small,
    /// chain, generation, pool → its tokens, and whether a block that told of it was pruned.
    /// chain, generation, pool, !number → nothing: the block tells of the pool.
    /// chain, generation, 255, number → pools that the block tells of and does not change.
    told_pools: Index,
    /// chain, first bytes of a transaction's hash, number, index → nothing.
    tx_by_hash: Run,
    /// chain, an address or topic of logs, hashed, number → in which groups of the block such logs are.
    log_words: Run,
    /// chain, number → nothing: blocks with transactions of which no receipt is known.
    receiptless: Run,
}

impl Tables {
    /// The one table that every format has.
    pub fn open_meta(db: (&Database, &Path), memtable_bytes: u64) -> Result<Table, Error> {
        Table::open(db, "meta", || options(Shape::Small, memtable_bytes))
    }
}

fn options(shape: Shape, memtable_bytes: u64) -> KeyspaceCreateOptions {
    // What was just flushed is soon merged into a deeper level: packing it twice is work for nothing.
    let below_first = CompressionPolicy::new([CompressionType::None, CompressionType::Lz4]);
    let options = KeyspaceCreateOptions::default().data_block_compression_policy(below_first);
    let bits = |n: f32| {
        FilterPolicy::all(FilterPolicyEntry::Bloom(
            fjall::config::BloomConstructionPolicy::BitsPerKey(n),
        ))
    };
    let rows = |options: KeyspaceCreateOptions| {
        options
            .data_block_size_policy(BlockSizePolicy::all(16 * 1024))
            .filter_policy(bits(8.0))
            .max_memtable_size(memtable_bytes)
    };
    match shape {
        Shape::Rows => rows(options),
        Shape::PackedRows => rows(
            options.data_block_compression_policy(CompressionPolicy::all(CompressionType::None)),
        ),
        Shape::Index => options
            .data_block_size_policy(BlockSizePolicy::all(8 * 1024))
            .filter_policy(bits(10.0))
            .max_memtable_size(memtable_bytes),
        Shape::Run => options
            .data_block_size_policy(BlockSizePolicy::all(8 * 1024))
            .filter_policy(FilterPolicy::disabled())
            .max_memtable_size(memtable_bytes),
        Shape::Small => options.max_memtable_size(memtable_bytes / 2),
    }
}
