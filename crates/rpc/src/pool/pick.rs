//! Chooses the upstream for a request. Pure.
//!
//! Must: usable, not avoided, offers what is needed. Better: holds the block and its state, not paused, least
//! loaded; among equals the order of the configuration. For clients' calls also: what those before met there.

use super::client_record::ClientRecord;
use crate::probe::{Capabilities, Receipts, Traces};
use crate::upstream_id::UpstreamId;
use std::cmp::Ordering;
use tokio::time::Instant;

/// What a request needs of the upstream that answers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub traces: bool,
    pub block_receipts: bool,
    /// The block it is about: upstreams that have it are preferred.
    pub block: Option<u64>,
    /// Whether it asks for the state after that block, which only archives have of old ones.
    pub state: bool,
}

impl Needs {
    pub fn state_at(&self) -> Option<u64> {
        self.block.filter(|_| self.state)
    }
}

/// What clients' calls met at an upstream. Lower is better; nothing for ingest's own calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientRank {
    is_open: bool,
    lacks_state: bool,
    cost_class: i32,
}

impl ClientRank {
    pub fn of(record: &ClientRecord, needs: &Needs, now: Instant) -> Self {
        let lacks = |block| record.is_known_to_lack(block, now);
        Self {
            is_open: record.is_open(now),
            lacks_state: needs.state_at().is_some_and(lacks),
            cost_class: record.cost_class(now),
        }
    }

    pub fn is_fit(&self) -> bool {
        !self.is_open && !self.lacks_state
    }
}

pub struct Candidate<'a> {
    pub id: UpstreamId,
    pub capabilities: &'a Capabilities,
    pub head: Option<u64>,
    pub paused: bool,
    pub client_rank: ClientRank,
    /// Requests under way or waiting, per allowed one.
    pub load: f64,
}

/// Blocks below the head whose state every full node still has, so that it can trace them.
pub const RECENT_BLOCKS: u64 = 96;

/// The oldest block that an upstream can trace.
pub fn traceable_from(able: &Capabilities, head: u64) -> Option<u64> {
    match able.traces {
        Traces::None => None,
        _ if able.traces_old_blocks => Some(able.oldest_block),
        _ => Some(head.saturating_sub(RECENT_BLOCKS).max(able.oldest_block)),
    }
}

pub fn pick<'a>(
    candidates: impl Iterator<Item = Candidate<'a>>,
    needs: &Needs,
    avoid: &[UpstreamId],
) -> Option<UpstreamId> {
    candidates
        .filter(|c| !avoid.contains(&c.id) && c.offers(needs))
        .min_by(|a, b| {
            let (mine, other) = (a.client_rank.cost_class, b.client_rank.cost_class);
            let ranks = a.rank(needs).cmp(&b.rank(needs)).then(mine.cmp(&other));
            ranks.then(a.compare_load(b)).then(a.id.cmp(&b.id))
        })
        .map(|c| c.id)
}

impl Candidate<'_> {
    fn offers(&self, needs: &Needs) -> bool {
        let traces = !needs.traces || self.capabilities.traces != Traces::None;
        let receipts = !needs.block_receipts || self.capabilities.receipts == Receipts::Block;
        traces && receipts
    }

    /// Lower is better. Missing the block is worse than a pause, which ends. Neither excludes: a
    /// polled head is a little old, and an error from the only node is better than none.
    fn rank(&self, needs: &Needs) -> (bool, bool, bool, bool) {
        let ClientRank { is_open, lacks_state: is_known_to_lack, .. } = self.client_rank;
        let Some(block) = needs.block else { return (is_open, false, false, self.paused) };
        let head = self.head.unwrap_or(0);
        let lacks_block = block > head || block < self.capabilities.oldest_block;
        let old = block.saturating_add(RECENT_BLOCKS) < head;
        let lacks_traces = needs.traces && old && !self.capabilities.traces_old_blocks;
        (is_open, lacks_block, lacks_traces || is_known_to_lack, self.paused)
    }

    fn compare_load(&self, other: &Self) -> Ordering {
        self.load.total_cmp(&other.load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(traces: Traces, oldest_block: u64) -> Capabilities {
        Capabilities {
            client: String::new(),
            receipts: Receipts::Block,
            traces,
            oldest_block,
            traces_old_blocks: oldest_block == 0,
        }
    }

    #[test]
    fn what_can_be_traced_depends_on_the_state_that_is_left() {
        let able = |traces, oldest_block, traces_old_blocks| Capabilities {
            traces_old_blocks,
            ..capabilities(traces, oldest_block)
        };
        for (able, expected) in [
            (able(Traces::None, 0, false), None),
            (able(Traces::TraceBlock, 0, true), Some(0)),
            (able(Traces::TraceBlock, 700, true), Some(700)),
            (able(Traces::DebugTraceBlock, 0, false), Some(1000 - RECENT_BLOCKS)),
            (able(Traces::DebugTraceBlock, 990, false), Some(990)),
        ] {
            assert_eq!(traceable_from(&able, 1000), expected, "{able:?}");
        }
        assert_eq!(traceable_from(&able(Traces::TraceBlock, 0, false), 3), Some(0));
    }

    #[test]
    fn the_choice_follows_needs_then_load_then_order() {
        let archive = capabilities(Traces::TraceBlock, 0);
        let pruned = capabilities(Traces::DebugTraceBlock, 900);
        let plain = capabilities(Traces::None, 0);
        let all = || {
            [(&plain, 1000, 0.1), (&pruned, 1001, 0.2), (&archive, 1000, 0.9), (&plain, 1000, 0.1)]
                .into_iter()
                .enumerate()
                .map(|(at, (capabilities, head, load))| Candidate {
                    id: UpstreamId(at),
                    capabilities,
                    head: Some(head),
                    paused: at == 3,
                    client_rank: ClientRank::default(),
                    load,
                })
        };
        let needs = |traces, block| Needs { traces, block, ..Needs::default() };
        for (needs, avoid, expected) in [
            (needs(false, None), &[][..], Some(0)),
            (needs(false, None), &[0], Some(1)),
            (needs(false, None), &[0, 1, 2], Some(3)),
            (needs(true, None), &[], Some(1)),
            (needs(true, Some(950)), &[], Some(1)),
            (needs(true, Some(100)), &[], Some(2)),
            (needs(true, Some(100)), &[2], Some(1)),
            (needs(false, Some(1001)), &[], Some(1)),
            (needs(false, Some(1002)), &[], Some(0)),
            (needs(true, None), &[1, 2], None),
        ] {
            let avoid: Vec<UpstreamId> = avoid.iter().map(|at| UpstreamId(*at)).collect();
            let picked = pick(all(), &needs, &avoid).map(|id| id.0);
            assert_eq!(picked, expected, "{needs:?} {avoid:?}");
        }
    }

    #[test]
    fn clients_go_where_calls_went_well_before() {
        let archive = capabilities(Traces::TraceBlock, 0);
        let rank =
            |is_open, lacks_state, cost_class| ClientRank { is_open, lacks_state, cost_class };
        for (ranks, expected) in [
            ([rank(false, false, 0), rank(false, false, 0)], 0),
            ([rank(true, false, 0), rank(false, false, 9)], 1),
            ([rank(false, true, 0), rank(false, false, 9)], 1),
            ([rank(true, false, 0), rank(false, true, 9)], 1),
            ([rank(false, false, 3), rank(false, false, 2)], 1),
            ([rank(true, false, 0), rank(true, false, 0)], 0),
        ] {
            let all = ranks.into_iter().enumerate().map(|(at, client_rank)| Candidate {
                id: UpstreamId(at),
                capabilities: &archive,
                head: Some(1000),
                paused: false,
                client_rank,
                load: 0.0,
            });
            let needs = Needs { block: Some(5), state: true, ..Needs::default() };
            assert_eq!(pick(all, &needs, &[]), Some(UpstreamId(expected)), "{ranks:?}");
        }
    }
}
