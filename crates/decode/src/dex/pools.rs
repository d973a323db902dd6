//! What a block made of pools, and which of them it proves to be of an exchange.
//!
//! In: the logs of one block. Out: [`PoolFacts`]. Must not know the families: `model::exchange_families`
//! reads their events.

use std::collections::BTreeMap;

use alloy_primitives::map::HashMap;
use alloy_primitives::{Address, B256};
use model::chain::{Chain, Exchange};
use model::exchange_families::{Created, Event, PoolEvent, event_reader};
use model::facts::{Change, Pool, PoolChange, PoolFacts, PoolId, PoolState};
use model::raw::{Block, Log};

use super::logs::{Logs, transactions};
use super::prove::{HashBudget, PoolCandidate, Prover};
use super::tokens_moved;

/// Rows that a block may have about pools that it does not prove. Real blocks have far fewer; the
/// bound keeps a block full of made-up pools from filling the store. Proven pools always have theirs.
pub const UNPROVEN_MAX: usize = 2048;

/// Reads pools out of blocks of one chain. It may be shared between threads; it remembers only what
/// saves hashing, so a block's facts are the same whatever was read before.
pub struct Dex {
    prover: Prover,
}

/// One event of a pool or factory, and where it stood.
pub(super) struct PoolLog<'a> {
    pub log_index: u32,
    log: &'a Log,
    topic: B256,
    pub id: PoolId,
    pub event: Event,
    actor: Option<Address>,
}

impl Dex {
    pub fn new(chain: &Chain) -> Dex {
        Dex { prover: Prover::new(chain) }
    }

    pub fn pools(&self, block: &Block) -> PoolFacts {
        let mut budget = HashBudget::default();
        let mut seen = BTreeMap::new();
        let mut changes = BTreeMap::new();
        for (_, logs) in transactions(block) {
            let found = self.pool_logs(logs);
            self.attribute(&found, logs, &mut seen, &mut budget);
            for it in found {
                let Some(change) = change(it.event) else { continue };
                let place = changes.len();
                changes
                    .entry(it.id)
                    .and_modify(|(_, row): &mut (usize, PoolChange)| {
                        row.log_index = it.log_index;
                        row.change.then(change.clone());
                    })
                    .or_insert((place, PoolChange { id: it.id, log_index: it.log_index, change }));
            }
        }
        changes.retain(|_, (_, row)| !row.change.is_nothing());
        let mut unproven: Vec<usize> =
            changes.iter().filter(|(id, _)| !seen.contains_key(*id)).map(|(_, it)| it.0).collect();
        unproven.sort_unstable();
        let last = unproven.get(UNPROVEN_MAX.saturating_sub(1)).copied().unwrap_or(usize::MAX);
        let rows =
            changes.into_values().filter(|(n, row)| *n <= last || seen.contains_key(&row.id));
        PoolFacts {
            changes: rows.map(|(_, row)| row).collect(),
            seen: seen.into_values().collect(),
        }
    }

    /// The transaction's events about pools, as far as they may be believed.
    pub(super) fn pool_logs<'a>(&self, logs: Logs<'a>) -> Vec<PoolLog<'a>> {
        let mut found = Vec::new();
        for (n, log) in logs.list.iter().enumerate() {
            let Some((topic, PoolEvent { id, event, actor })) = read(log) else { continue };
            // Anyone can emit an event with any id; only the one contract holds such pools.
            if matches!(id, PoolId::V4(_)) && self.holder(log, topic).is_none() {
                continue;
            }
            let counted = logs.first_index.wrapping_add(n as u64);
            let log_index = u32::try_from(log.log_index.unwrap_or(counted)).unwrap_or(u32::MAX);
            found.push(PoolLog { log_index, log, topic, id, event, actor });
        }
        found
    }

    /// The one contract that holds all pools of its family, if it is the one that speaks.
    fn holder(&self, log: &Log, topic: B256) -> Option<&Exchange> {
        self.prover.factory(log.address?, topic).filter(|it| it.kind.is_singleton)
    }

    /// Adds to `seen` the pools that this transaction proves.
    pub(super) fn attribute(
        &self,
        found: &[PoolLog],
        logs: Logs,
        seen: &mut BTreeMap<PoolId, Pool>,
        budget: &mut HashBudget,
    ) {
        for it in found {
            if let Event::Created(created) = &it.event
                && let Some(pool) = self.created(it, created)
            {
                seen.entry(it.id).or_insert(pool);
            }
        }
        let open: Vec<&PoolLog> = found
            .iter()
            .filter(|it| !matches!(it.event, Event::Created(_)) && !seen.contains_key(&it.id))
            .collect();
        if open.is_empty() {
            return;
        }
        let moved = tokens_moved::through(open.iter().filter_map(|it| it.log.address), logs.list);
        let mut tried: HashMap<PoolId, (Option<u32>, Option<Address>)> = HashMap::default();
        for it in open {
            let (paid, actor) = (paid(&it.event), it.actor);
            if seen.contains_key(&it.id) || tried.get(&it.id) == Some(&(paid, actor)) {
                continue;
            }
            tried.insert(it.id, (paid, actor));
            let emitter = it.log.address.unwrap_or_default();
            let mut tokens = moved.get(&emitter).cloned().unwrap_or_default();
            if matches!(it.id, PoolId::V4(_)) {
                // The native coin moves without a log.
                tokens.insert(0, Address::ZERO);
            }
            let ranged = is_ranged(&it.event);
            let candidate =
                PoolCandidate { id: it.id, emitter, ranged, paid, actor, tokens: &tokens };
            if let Some(pool) = self.prover.prove(&candidate, budget) {
                seen.insert(it.id, pool);
            }
        }
    }

    fn created(&self, it: &PoolLog, created: &Created) -> Option<Pool> {
        let exchange = self.prover.factory(it.log.address?, it.topic)?;
        Some(Pool::new(it.id, exchange, created.tokens, created.terms))
    }
}

/// `None` for everything that is not about pools.
fn read(log: &Log) -> Option<(B256, PoolEvent)> {
    let topic = log.topics.as_deref()?.first()?;
    let reader = event_reader(topic)?;
    if log.removed == Some(true) {
        return None;
    }
    Some((*topic, (reader.read)(log)?))
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
