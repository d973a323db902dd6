//! `eth_newFilter`, `eth_newBlockFilter`, `eth_getFilterChanges`, `eth_getFilterLogs`, `eth_uninstallFilter`.
//!
//! The id says what is looked for and since when; how far a filter was asked is remembered here. A process that never
//! met it begins where the filter did: what it tells may be told twice, and nothing is left out.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::raw::json_value::JsonValue;
use store::{EventKind, Follower, LogsQuery, ReaderCursor};

use super::chain_feed::{ChainFeed, logs_of_block};
use super::filter_id::{FilterId, FilterKind};
use crate::answer::Failure;
use crate::local::{LocalAnswer, LogFilter, StoreCall, logs_of};
use crate::params::Params;

/// As geth has it: who does not ask for so long has forgotten the filter.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);
const FILTERS_MAX: usize = 100_000;
/// Blocks that one call looks at; the next one goes on.
const BLOCKS_AT_ONCE: u32 = 1_024;

#[derive(Default)]
pub struct Filters {
    places: Mutex<HashMap<String, (ReaderCursor, Instant)>>,
}

fn not_found() -> Failure {
    Failure::new(-32000, "filter not found")
}

impl Filters {
    fn places(&self) -> MutexGuard<'_, HashMap<String, (ReaderCursor, Instant)>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn install(
        &self,
        call: &StoreCall<'_>,
        kind: FilterKind,
    ) -> Result<LocalAnswer, Failure> {
        let filter = match kind {
            FilterKind::Blocks => None,
            FilterKind::Logs => {
                let params = Params::read(call.params, 1)?;
                LogFilter::read(params.raw(0), call.config)?;
                Some(params.raw(0).to_owned())
            }
        };
        // Of a chain of which nothing is stored a node has to keep it.
        let Some(follower) = Follower::from_head(call.store, call.chain).await? else {
            return Ok(LocalAnswer::AskNode);
        };
        let cursor = follower.cursor();
        let (chain, seq, next) = (call.chain.0, cursor.seq, cursor.next);
        let mut places = self.places();
        make_room(&mut places)?;
        for instance in 0u64.. {
            let id = FilterId { kind, chain, seq, next, filter: filter.clone(), instance };
            let Some(text) = id.text() else { break };
            if let Entry::Vacant(free) = places.entry(text) {
                let answer = LocalAnswer::Known(format!("\"{}\"", free.key()).into());
                free.insert((cursor, Instant::now()));
                return Ok(answer);
            }
        }
        Err(not_found())
    }

    /// The id with what it says; none where a node may know it.
    fn asked(&self, call: &StoreCall<'_>) -> Result<Option<(String, FilterId)>, Failure> {
        let params = Params::read(call.params, 1)?;
        let text: String = serde_json::from_str(params.raw(0).get())
            .map_err(|_| Failure::params("argument 0 is not a filter's id"))?;
        let id = FilterId::read(&text).filter(|id| id.chain == call.chain.0);
        match id {
            Some(id) => Ok(Some((text, id))),
            None if call.head.has_nodes() => Ok(None),
            None => Err(not_found()),
        }
    }

    pub fn uninstall(&self, call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
        let Some((text, _)) = self.asked(call)? else { return Ok(LocalAnswer::AskNode) };
        self.places().remove(&text);
        Ok(LocalAnswer::Known(b"true".to_vec()))
    }

    /// All logs that the filter describes, whenever they came.
    pub async fn logs(&self, call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
        let Some((_, id)) = self.asked(call)? else { return Ok(LocalAnswer::AskNode) };
        let Some(filter) = id.filter else { return Err(not_found()) };
        logs_of(call, LogFilter::read(&filter, call.config)?).await
    }

    pub async fn changes(
        &self,
        call: &StoreCall<'_>,
        feed: &ChainFeed,
    ) -> Result<LocalAnswer, Failure> {
        let Some((text, id)) = self.asked(call)? else { return Ok(LocalAnswer::AskNode) };
        let known = self.places().get(&text).map(|(cursor, _)| *cursor);
        let cursor = known.unwrap_or_else(|| id.cursor());
        let query = match &id.filter {
            Some(raw) => Some(query(call, LogFilter::read(raw, call.config)?)),
            None => None,
        };
        let mut follower = Follower::at(call.store, call.chain, cursor);
        let mut json = vec![b'['];
        let (mut count, mut blocks) = (0, 0);
        // More comes with the next call.
        while count < call.config.logs_max
            && blocks < BLOCKS_AT_ONCE
            && let Some(event) = follower.next().await?
        {
            blocks += 1;
            let mut put = |write: &dyn Fn(&mut Vec<u8>)| {
                if json.len() > 1 {
                    json.push(b',');
                }
                write(&mut json);
                count += 1;
            };
            match (&query, event.kind) {
                (None, EventKind::Apply) => put(&|json| event.hash.write_json(json)),
                (Some(query), EventKind::Apply) => {
                    let view = call.view().await?;
                    let block = view.block_with_receipts(call.chain, event.number).await?;
                    let Some(block) = block.filter(|block| block.hash == event.hash) else {
                        continue;
                    };
                    let logs = logs_of_block(block.receipts);
                    feed.remember(event.hash, &logs);
                    for log in logs.iter().filter(|log| query.takes(log)) {
                        put(&|json| log.write_json(json));
                    }
                }
                (Some(query), EventKind::Revert) => {
                    for log in feed.removed_logs(event.hash).iter().filter(|log| query.takes(log)) {
                        put(&|json| log.write_json(json));
                    }
                }
                (None, EventKind::Revert) | (_, EventKind::Amend) => {}
            }
        }
        json.push(b']');
        let mut places = self.places();
        // Met here for the first time: anybody can write such an id.
        if !places.contains_key(&text) {
            make_room(&mut places)?;
        }
        places.insert(text, (follower.cursor(), Instant::now()));
        Ok(LocalAnswer::Known(json))
    }
}

/// For one more; those that nobody asks for any more go first.
fn make_room(places: &mut HashMap<String, (ReaderCursor, Instant)>) -> Result<(), Failure> {
    if places.len() >= FILTERS_MAX {
        places.retain(|_, (_, asked)| asked.elapsed() < FORGOTTEN_AFTER);
    }
    if places.len() >= FILTERS_MAX {
        return Err(Failure::new(-32005, "too many filters; uninstall some"));
    }
    Ok(())
}

fn query(call: &StoreCall<'_>, filter: LogFilter) -> LogsQuery {
    let LogFilter { addresses, topics, .. } = filter;
    let (chain, from_block, to_block, limit) = (call.chain, 0, u64::MAX, usize::MAX);
    LogsQuery { chain, from_block, to_block, addresses, topics, limit }
}
