//! Pools of decentralised exchanges: which there are, and what a block made of them.
//!
//! In: the logs of one block. Out: [`PoolFacts`], or the [`Swap`]s one by one. A pool belongs to an
//! exchange only if the exchange's factory says so: by an event of its own, or because the pool's
//! address can be derived from it. Whatever else emits the same events belongs to nobody.

mod algebra;
mod create2;
mod event;
mod moved;
mod prove;
mod slipstream;
mod solidly;
mod swap;
mod v2;
mod v3;
mod v4;
mod words;

use std::collections::BTreeMap;

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::chain::Chain;
use model::facts::{Change, Pool, PoolChange, PoolFacts, PoolId, PoolState};
use model::raw::{Block, Log};

use event::{Created, Event};
use prove::{Patience, Prover, Suspect};

pub use event::Flow;
pub use swap::Swap;

/// Rows that a block may have about pools that it does not prove. Real blocks have far fewer; the
/// bound keeps a block full of made-up pools from filling the store. Proven pools always have theirs.
pub const UNPROVEN_MAX: usize = 2048;

/// Reads pools out of blocks of one chain. It may be shared between threads; it remembers only what
/// saves hashing, so a block's facts are the same whatever was read before.
pub struct Dex {
    prover: Prover,
}

/// One event of a pool or factory, and where it stood.
struct Hit<'a> {
    log_index: u32,
    log: &'a Log,
    id: PoolId,
    event: Event,
}

impl Dex {
    pub fn new(chain: &Chain) -> Dex {
        Dex { prover: Prover::new(chain) }
    }

    pub fn pools(&self, block: &Block) -> PoolFacts {
        let mut patience = Patience::default();
        let mut seen = BTreeMap::new();
        let mut changes = BTreeMap::new();
        for (_, logs) in transactions(block) {
            let hits = self.hits(logs);
            self.attribute(&hits, logs, &mut seen, &mut patience);
            for hit in hits {
                let Some(change) = change(hit.event) else { continue };
                let place = changes.len();
                changes
                    .entry(hit.id)
                    .and_modify(|(_, row): &mut (usize, PoolChange)| {
                        row.log_index = hit.log_index;
                        row.change.then(change.clone());
                    })
                    .or_insert((
                        place,
                        PoolChange { id: hit.id, log_index: hit.log_index, change },
                    ));
            }
        }
        changes.retain(|_, (_, row)| !row.change.is_nothing());
        let mut unproven: Vec<usize> =
            changes.iter().filter(|(id, _)| !seen.contains_key(*id)).map(|(_, it)| it.0).collect();
        unproven.sort_unstable();
        let last = unproven.get(UNPROVEN_MAX.saturating_sub(1)).copied().unwrap_or(usize::MAX);
        let kept =
            changes.into_values().filter(|(n, row)| *n <= last || seen.contains_key(&row.id));
        PoolFacts {
            changes: kept.map(|(_, row)| row).collect(),
            seen: seen.into_values().collect(),
        }
    }

    /// The transaction's events about pools, as far as they may be believed.
    fn hits<'a>(&self, logs: Logs<'a>) -> Vec<Hit<'a>> {
        let mut hits = Vec::new();
        for (n, log) in logs.list.iter().enumerate() {
            let Some((id, event)) = event::read(log) else { continue };
            // Anyone can emit a v4 event with any id; only one contract holds v4 pools.
            if matches!(id, PoolId::V4(_)) && log.address != self.prover.manager() {
                continue;
            }
            let counted = logs.first_index.wrapping_add(n as u64);
            let log_index = u32::try_from(log.log_index.unwrap_or(counted)).unwrap_or(u32::MAX);
            hits.push(Hit { log_index, log, id, event });
        }
        hits
    }

    /// Adds to `seen` the pools that this transaction proves.
    fn attribute(
        &self,
        hits: &[Hit],
        logs: Logs,
        seen: &mut BTreeMap<PoolId, Pool>,
        patience: &mut Patience,
    ) {
        for hit in hits {
            if let Event::Created(created) = &hit.event
                && let Some(pool) = self.created(hit, created)
            {
                seen.entry(hit.id).or_insert(pool);
            }
        }
        let unknown = |hit: &&Hit| !matches!(hit.event, Event::Created(_));
        let open: Vec<&Hit> =
            hits.iter().filter(unknown).filter(|hit| !seen.contains_key(&hit.id)).collect();
        if open.is_empty() {
            return;
        }
        let moved = moved::tokens_of(open.iter().filter_map(|hit| hit.log.address), logs.list);
        let mut tried: HashMap<PoolId, (Option<u32>, Option<Address>)> = HashMap::default();
        for hit in open {
            let (paid, actor) = (paid(&hit.event), v4::actor(hit.id, hit.log));
            if seen.contains_key(&hit.id) || tried.get(&hit.id) == Some(&(paid, actor)) {
                continue;
            }
            tried.insert(hit.id, (paid, actor));
            let mut tokens =
                hit.log.address.and_then(|it| moved.get(&it).cloned()).unwrap_or_default();
            if matches!(hit.id, PoolId::V4(_)) {
                // The native coin moves without a log.
                tokens.insert(0, Address::ZERO);
            }
            let ranged = is_ranged(&hit.event);
            let suspect = Suspect { id: hit.id, ranged, paid, actor, tokens: &tokens };
            if let Some(pool) = self.prover.prove(&suspect, patience) {
                seen.insert(hit.id, pool);
            }
        }
    }

    fn created(&self, hit: &Hit, created: &Created) -> Option<Pool> {
        let exchange = self.prover.factory(hit.log.address?, created.kinds)?;
        Some(Pool {
            id: hit.id,
            factory: exchange.factory,
            kind: exchange.kind,
            token0: created.token0,
            token1: created.token1,
            fee: created.fee,
            tick_spacing: created.tick_spacing,
            hooks: created.hooks,
            stable: created.stable,
        })
    }
}

#[derive(Clone, Copy)]
struct Logs<'a> {
    list: &'a [Log],
    /// Where the first stands in its block, for sources that do not say.
    first_index: u64,
}

/// Each transaction that has logs, with its place.
fn transactions(block: &Block) -> impl Iterator<Item = (u32, Logs<'_>)> {
    let mut first_index = 0u64;
    block.receipts.iter().zip(0u32..).filter_map(move |(receipt, tx_index)| {
        let list = receipt.as_ref()?.logs.as_deref()?;
        let logs = Logs { list, first_index };
        first_index += list.len() as u64;
        Some((tx_index, logs))
    })
}

fn change(event: Event) -> Option<Change> {
    match event {
        Event::State(state) => Some(Change::State(state)),
        Event::Liquidity(range) => Some(Change::Liquidity(vec![range])),
        Event::Swap(flow) => flow.state.map(Change::State),
        Event::Created(created) => created.state.map(Change::State),
    }
}

fn paid(event: &Event) -> Option<u32> {
    match event {
        Event::Swap(flow) => flow.fee,
        _ => None,
    }
}

fn is_ranged(event: &Event) -> bool {
    match event {
        Event::State(state) => matches!(state, PoolState::Ranged { .. }),
        Event::Swap(flow) => flow.state.is_some(),
        Event::Liquidity(_) => true,
        Event::Created(_) => false,
    }
}
