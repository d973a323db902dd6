//! The engine as the store's face sees it: every call is a plain function that gives a boxed future.
//!
//! An async function is compiled anew in every crate that awaits it, with all that it awaits. Behind these the engine is
//! compiled once, here.

use std::collections::BTreeSet;
use std::future::Future;
use std::ops::RangeInclusive;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use alloy_primitives::{Address, B256};
use bytes::Bytes;
use model::chain::ChainId;
use model::facts::{Facts, Pool};
use model::proof::Proof;
use model::raw::{Block, Header, Receipt};
use model::token::Token;
use tokio::sync::watch;

use super::gate::{AdmitFn, DatabaseId};
use super::lease::Term;
use super::prepare::PgBlock;
use super::read::BlockParts;
use super::{read, store};
use crate::block::{BlockSummary, StoredTx};
use crate::change::{ChangeOf, Committed};
use crate::check::{CheckProgress, CheckReport};
use crate::generations::{Building, Decoded, Fingerprint, Generations, StopFn};
use crate::journal::{Entry, ReaderCommit, ReaderCursor, ReaderRow, Version};
use crate::lease::Duty;
use crate::options::{Options, TableSize, UpgradeProgress};
use crate::prune::Pruned;
use crate::query::{
    LogsPage, LogsQuery, LowestTradeQuery, Place, PoolStatesQuery, StateAt, StoredTrade,
    TradesPage, TradesQuery, WalletPage, WalletQuery,
};
use crate::shared::Shared;
use crate::streams::{
    AttemptLog, AttemptRecord, AttemptsQuery, CopiedStream, Delivery, FailedQuery, KeptMatch,
    ListAnchor, QueueState, QueuedDelivery, StoredDelivery, StreamAnswer, StreamCall, StreamCommit,
    StreamId, StreamPart, StreamRow, StreamTotals,
};
use crate::write_state::WriteState;
use crate::{ApiKey, Coverage, Error};

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

type Listed = (ListAnchor, Delivery, AttemptLog);
type Progress<'a, T> = &'a (dyn Fn(T) + Send + Sync);

/// Cheap to clone.
#[derive(Clone)]
pub struct Store(store::Store);

pub struct View(read::View);

macro_rules! erased {
    ($of:ty: $($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        impl $of {
            $(pub fn $name<'a>(&'a self, $($arg: $type),*) -> Answer<'a, $out> {
                Box::pin(self.0.$name($($arg),*))
            })+
        }
    };
}

erased! { View:
    head(chain: ChainId) -> Option<BlockSummary>;
    block_summary(chain: ChainId, number: u64) -> Option<BlockSummary>;
    parent_hash(chain: ChainId, number: u64) -> Option<B256>;
    number_of(chain: ChainId, hash: B256) -> Option<u64>;
    header(chain: ChainId, number: u64) -> Option<Header>;
    read_block(chain: ChainId, number: u64, parts: BlockParts) -> Option<(Block, Proof)>;
    receipt(chain: ChainId, number: u64, index: u32) -> Option<Receipt>;
    place_of_tx(chain: ChainId, hash: B256) -> Option<Place>;
    transaction(chain: ChainId, number: u64, index: u32) -> Option<StoredTx>;
    digest(chain: ChainId) -> B256;
    facts(chain: ChainId, number: u64) -> Facts;
    journal_after(chain: ChainId, seq: u64, limit: usize) -> Vec<Entry>;
    logs(query: &'a LogsQuery) -> LogsPage;
    first_receiptless(chain: ChainId, from: u64, to: u64) -> Option<u64>;
    lowest_trade(q: &'a LowestTradeQuery) -> Option<StoredTrade>;
    trades_page(q: &'a TradesQuery) -> TradesPage;
    pools_of(chain: ChainId, token: Address) -> Vec<Pool>;
    pools_between(chain: ChainId, pairs: &'a [(Address, Address)]) -> Vec<Pool>;
    pool_states(q: &'a PoolStatesQuery<'a>) -> Vec<Option<StateAt>>;
    readers(chain: ChainId) -> Vec<(String, ReaderCursor)>;
    reader_cursor(chain: ChainId, name: &'a str) -> Option<ReaderCursor>;
    reader_rows(of: (ChainId, &'a str), prefix: &'a [u8], limit: usize) -> Vec<ReaderRow>;
    first_block_from(chain: ChainId, timestamp: u64) -> Option<u64>;
    last_block_until(chain: ChainId, timestamp: u64) -> Option<u64>;
    token(chain: ChainId, address: Address) -> Option<Token>;
    tokens(chain: ChainId) -> Vec<(Address, Token)>;
    untraced_blocks(chain: ChainId, below: u64, limit: usize) -> Vec<u64>;
    wallet_page(q: &'a WalletQuery) -> WalletPage;
    wallet_total(q: &'a WalletQuery) -> u64;
}

impl View {
    pub fn coverage(&self, chain: ChainId) -> Coverage {
        self.0.coverage(chain)
    }

    pub fn chains(&self) -> Vec<ChainId> {
        self.0.chains()
    }

    pub fn version(&self, chain: ChainId) -> Version {
        self.0.version(chain)
    }

    pub fn generations(&self, chain: ChainId) -> Generations {
        self.0.generations(chain)
    }
}

erased! { Store:
    ready() -> DatabaseId;
    look() -> ();
    distribute() -> bool;
    note_place(chain: ChainId, database: DatabaseId, may_change: bool) -> ();
    check_places(placed: &'a [ChainId]) -> ();
    hold_mark(chain: ChainId, mark: &'a str, at: ReaderCursor) -> ();
    follow_mark(chain: ChainId, mark: &'a str, at: ReaderCursor) -> ();
    drop_mark(chain: ChainId, mark: &'a str) -> ();
    marks(chain: ChainId, prefix: &'a str) -> Vec<String>;
    version(chain: ChainId) -> Version;
    try_lead(duty: Duty) -> Option<Term>;
    commit(chain: ChainId, change: ChangeOf<PgBlock>) -> Committed;
    prune_oldest(chain: ChainId, below: u64, limit: usize) -> Pruned;
    put_token(chain: ChainId, address: Address, token: &'a Token) -> ();
    known_secret(name: &'a str) -> Option<[u8; 32]>;
    put_secret(name: &'a str, secret: [u8; 32]) -> [u8; 32];
    secrets() -> Vec<(String, [u8; 32])>;
    api_keys() -> Vec<ApiKey>;
    put_api_key(key: &'a ApiKey) -> ();
    remove_api_key(id: &'a str) -> Option<ApiKey>;
    commit_reader(commit: ReaderCommit) -> ();
    remove_reader(chain: ChainId, name: &'a str) -> bool;
    table_sizes() -> Vec<TableSize>;
    flush() -> ();
    compact() -> ();
    check(progress: Progress<'a, CheckProgress>) -> CheckReport;
    decode_with(chain: ChainId, decoder: Fingerprint) -> Generations;
    begin_generation(chain: ChainId, decoder: Fingerprint, stop: StopFn<'a>) -> Option<Building>;
    write_generation(chain: ChainId, decoder: Fingerprint, blocks: &'a [Decoded], reached: u64) -> usize;
    finish_generation(chain: ChainId, decoder: Fingerprint) -> ();
    sweep_generations(chain: ChainId, stop: StopFn<'a>) -> u64;
    claim_queues(sender: &'a str, limit: usize) -> Vec<StreamId>;
    claim_queue(sender: &'a str, id: StreamId) -> Option<bool>;
    renew_claims(sender: &'a str, streams: &'a [StreamId]) -> Vec<StreamId>;
    release_claims(sender: &'a str) -> ();
    claim_retry(place: (StreamId, u64), due_ms: u64, until_ms: u64) -> bool;
    stream_rows(ids: &'a [StreamId]) -> Vec<StreamRow>;
    call_streams(call: &'a StreamCall, within: Duration) -> Option<StreamAnswer>;
    take_stream_calls() -> Vec<(String, StreamCall)>;
    answer_stream_call(id: &'a str, answer: &'a StreamAnswer) -> ();
    append_journal(chain: ChainId, entries: &'a [Entry]) -> u64;
    stored_deliveries(id: StreamId, from_seq: u64, limit: usize) -> Vec<StoredDelivery>;
    all_stream_settings() -> Vec<(String, Vec<u8>)>;
    begin_stream_copy(row: &'a StreamRow) -> ();
    add_stream_part(id: StreamId, part: StreamPart) -> ();
    publish_streams(streams: &'a [CopiedStream], settings: &'a [(String, Vec<u8>)]) -> ();
    streams() -> Vec<StreamRow>;
    put_stream(row: &'a StreamRow) -> ();
    remove_stream(id: StreamId) -> bool;
    change_stream_addresses(id: StreamId, add: &'a [Address], remove: &'a [Address]) -> u64;
    stream_addresses(id: StreamId, after: Option<Address>, limit: usize) -> Vec<Address>;
    stream_address_count(id: StreamId) -> u64;
    stream_settings(tenant: &'a str) -> Option<Vec<u8>>;
    put_stream_settings(tenant: &'a str, body: &'a [u8]) -> ();
    commit_streams(commit: StreamCommit) -> Vec<QueuedDelivery>;
    kept_matches(chain: ChainId, blocks: RangeInclusive<u64>, stream: Option<StreamId>) -> Vec<KeptMatch>;
    delivery(id: StreamId, seq: u64) -> Option<Delivery>;
    deliveries(id: StreamId, from_seq: u64, limit: usize) -> Vec<Delivery>;
    delivery_body(id: StreamId, seq: u64) -> Option<Bytes>;
    delivery_bodies(id: StreamId, seqs: RangeInclusive<u64>) -> Vec<(u64, Bytes)>;
    stream_queue(id: StreamId) -> QueueState;
    stream_totals(id: StreamId) -> StreamTotals;
    due_retries(until_ms: u64, passed_over: &'a BTreeSet<StreamId>, limit: usize) -> Vec<(u64, StreamId, u64)>;
    record_attempts(records: &'a [AttemptRecord]) -> ();
    attempts_page(query: &'a AttemptsQuery) -> Vec<Listed>;
    failed_page(query: &'a FailedQuery) -> Vec<Listed>;
    prune_deliveries(before_ms: u64, limit: usize) -> usize;
}

impl Store {
    pub fn open<'a>(
        options: &'a Options,
        progress: Progress<'a, UpgradeProgress>,
    ) -> Answer<'a, Self> {
        Box::pin(async move { store::Store::open(options, progress).await.map(Store) })
    }

    pub fn open_late(options: &Options, admit: AdmitFn) -> Result<Self, Error> {
        store::Store::open_late(options, admit).map(Store)
    }

    /// Where it is, without a password.
    pub fn label(&self) -> &Path {
        self.0.inner.pool.server.label()
    }

    pub fn view(&self) -> Answer<'_, View> {
        Box::pin(async move { self.0.view().await.map(View) })
    }

    pub fn under(&self, term: &Term) -> Self {
        Store(self.0.under(term))
    }

    pub fn watch_shared(&self, shared: Shared) -> watch::Receiver<u64> {
        self.0.inner.newest.watch(shared)
    }

    pub fn subscribe(&self, chain: ChainId) -> watch::Receiver<u64> {
        self.0.subscribe(chain)
    }

    pub fn disk_bytes(&self) -> u64 {
        self.0.disk_bytes()
    }

    pub fn write_state(&self) -> WriteState {
        self.0.write_state()
    }

    pub fn watch_write_state(&self) -> watch::Receiver<WriteState> {
        self.0.watch_write_state()
    }

    pub fn folder(&self) -> &Path {
        self.0.folder()
    }
}
