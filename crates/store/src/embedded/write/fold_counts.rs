//! What runs add to the counts of wallets, in parts that are written one after the other.

use std::sync::Arc;

use alloy_primitives::Address;
use model::chain::ChainId;

use crate::Error;
use crate::embedded::counts::{Buckets, Delta, MANY_AT_ONCE, TOTAL};
use crate::embedded::keys;
use crate::embedded::runs::{Run, RunTable, merged_rows};
use crate::embedded::tables::Tables;

/// Rows of wallets of one part, unless a single run has more. Others that want to write wait for no more than this.
pub const PART_ROWS: usize = 16_384;

pub struct CountChanges<'a> {
    /// The oldest runs first.
    pub parts: Vec<FoldPart<'a>>,
    /// Wallets that got many rows and are not counted.
    pub uncounted: Vec<Address>,
}

pub struct FoldPart<'a> {
    pub runs: &'a [Arc<Run>],
    /// Of wallets that are counted, sorted by address.
    pub counts: Vec<(Address, Buckets)>,
}

impl<'a> CountChanges<'a> {
    /// The runs are of one chain, the oldest first.
    pub fn of(
        tables: &Tables,
        chain: ChainId,
        (runs, part_rows): (&'a [Arc<Run>], usize),
    ) -> Result<Self, Error> {
        let parts =
            split(runs, part_rows).into_iter().map(|runs| FoldPart { runs, counts: Vec::new() });
        let mut changes = CountChanges { parts: parts.collect(), uncounted: Vec::new() };
        let part_of = PartOfBlock::new(&changes.parts);
        let rows = |of| merged_rows(runs, of).filter_map(move |(key, _)| wallet_row(key, of));
        let mut direct = rows(RunTable::WalletTxs).peekable();
        let mut internal = rows(RunTable::WalletInternal).peekable();
        let mut of_wallet = Vec::new();
        while let Some(address) = first(direct.peek(), internal.peek()) {
            of_wallet.clear();
            of_wallet.extend(std::iter::from_fn(|| direct.next_if(|row| row.address == address)));
            of_wallet.extend(std::iter::from_fn(|| internal.next_if(|row| row.address == address)));
            if tables.wallet_counts.get(keys::count(chain, address, TOTAL, 0))?.is_some() {
                changes.add(&part_of, &of_wallet);
            } else if of_wallet.len() >= MANY_AT_ONCE {
                changes.uncounted.push(address);
            }
        }
        Ok(changes)
    }

    /// `rows` are all of one wallet.
    fn add(&mut self, part_of: &PartOfBlock, rows: &[WalletRow]) {
        for WalletRow { address, number, delta } in rows {
            let Some(part) = part_of.find(*number).and_then(|at| self.parts.get_mut(at)) else {
                continue;
            };
            match part.counts.last_mut().filter(|(last, _)| last == address) {
                Some((_, buckets)) => buckets.add(*number, *delta),
                None => {
                    let mut buckets = Buckets::default();
                    buckets.add(*number, *delta);
                    part.counts.push((*address, buckets));
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct WalletRow {
    address: Address,
    number: u64,
    delta: Delta,
}

/// `key` is without its chain.
fn wallet_row(key: &[u8], of: RunTable) -> Option<WalletRow> {
    let (address, number) = (key.first_chunk::<20>()?, keys::place_at_end(key)?.0);
    let delta = Delta::of(of == RunTable::WalletTxs, 1);
    Some(WalletRow { address: Address::from(*address), number, delta })
}

fn first(a: Option<&WalletRow>, b: Option<&WalletRow>) -> Option<Address> {
    a.into_iter().chain(b).map(|row| row.address).min()
}

/// Neighbours together, as long as they have few rows.
fn split(runs: &[Arc<Run>], part_rows: usize) -> Vec<&[Arc<Run>]> {
    let rows = |run: &Run| run.rows(RunTable::WalletTxs) + run.rows(RunTable::WalletInternal);
    let mut in_part = 0;
    let belongs = |a: &Arc<Run>, b: &Arc<Run>| {
        in_part += rows(a);
        let is_same = in_part + rows(b) <= part_rows;
        if !is_same {
            in_part = 0;
        }
        is_same
    };
    runs.chunk_by(belongs).collect()
}

/// Which part has the rows of a block.
struct PartOfBlock {
    /// First block, last block, part; sorted. No two overlap: a block is in one run.
    ranges: Vec<(u64, u64, usize)>,
}

impl PartOfBlock {
    fn new(parts: &[FoldPart<'_>]) -> Self {
        let ranges = parts.iter().enumerate().flat_map(|(at, part)| {
            let of_runs = part.runs.iter().flat_map(|run| run.blocks.ranges());
            of_runs.map(move |(first, last)| (*first, *last, at))
        });
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_unstable();
        PartOfBlock { ranges }
    }

    fn find(&self, number: u64) -> Option<usize> {
        let after = self.ranges.partition_point(|(first, ..)| *first <= number);
        let (_, last, part) = self.ranges.get(after.checked_sub(1)?)?;
        (number <= *last).then_some(*part)
    }
}
