//! `Store::commit`: what is checked, in which order it is written.

use std::collections::HashMap;

use alloy_primitives::B256;
use model::chain::ChainId;

use super::ChainWrite;
use super::counting::WalletRow;
use super::pools::LastWitness;
use crate::Error;
use crate::block::BlockHead;
use crate::change::{ChangeOf, Committed};
use crate::fit::{self, StoredChain};
use crate::journal::{Entry, EntryKind, Origin};
use crate::postgres::chain_row::hash;
use crate::postgres::numbers::{sql, u32_at, u64_at};
use crate::postgres::prepare::PgBlock;
use crate::postgres::store::Store;

const LINKS: &str = "select number, hash, parent_hash, timestamp, tx_count, receipt_count, has_traces from blocks \
     where chain = $1 and number = any($2)";

/// What is stored of a block that a change touches, or that stands beside one.
type Links = HashMap<u64, (BlockHead, Option<B256>)>;

impl Store {
    pub async fn commit(
        &self,
        chain: ChainId,
        change: ChangeOf<PgBlock>,
    ) -> Result<Committed, Error> {
        let done = self.write_change(chain, change).await;
        self.inner.wrote(done)
    }

    async fn write_change(
        &self,
        chain: ChainId,
        change: ChangeOf<PgBlock>,
    ) -> Result<Committed, Error> {
        let mut write = ChainWrite::begin(self, chain).await?;
        let heads = change.heads(|block| block.head);
        let links = write.links(&heads).await?;
        let is_new = check(&links, &heads)?;
        let entries = entries(&heads, &is_new, &links, write.row.seq);
        if entries.is_empty() {
            return Ok(Committed { entries, coverage: write.row.coverage.clone() });
        }
        let ChangeOf { revert, amend, untrace, apply, .. } = change;
        let amended = amend.iter().chain(&untrace).map(|block| block.head.number);
        let removed: Vec<u64> = revert.iter().copied().chain(amended).collect();
        let fresh = apply.into_iter().zip(is_new).filter(|(_, is_new)| *is_new);
        let blocks: Vec<PgBlock> =
            amend.into_iter().chain(untrace).chain(fresh.map(|(block, _)| block)).collect();
        let mut wallets = write.remove_blocks(&removed).await?;
        let generations = write.row.generations.written().collect::<Vec<u8>>();
        let untold = write.remove_facts(&removed, &generations).await?;
        if !blocks.is_empty() {
            write.row.generations.add_from(self.inner.decoder(chain));
        }
        write.copy_blocks(&blocks).await?;
        wallets.extend(blocks.iter().flat_map(WalletRow::of_block));
        write.count(wallets).await?;
        write.add_facts(&blocks).await?;
        write.settle_pools(&untold, &blocks, LastWitness::Forget).await?;
        write.add_entries(&entries).await?;
        for entry in &entries {
            match entry.kind {
                EntryKind::Apply => write.row.coverage.insert(entry.number),
                EntryKind::Revert => write.row.coverage.remove(entry.number),
                EntryKind::Amend => {}
            }
        }
        let coverage = write.row.coverage.clone();
        write.finish().await?;
        Ok(Committed { entries, coverage })
    }
}

impl ChainWrite<'_> {
    async fn links(&self, change: &ChangeOf<BlockHead>) -> Result<Links, Error> {
        let mut numbers: Vec<i64> = Vec::new();
        let blocks = change.amend.iter().chain(&change.untrace).chain(&change.apply);
        let all = blocks.map(|block| block.number).chain(change.revert.iter().copied());
        for number in all {
            let near = [number.checked_sub(1), Some(number), number.checked_add(1)];
            numbers.extend(near.into_iter().flatten().map(sql));
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mut links = Links::new();
        for row in self.connection.query(LINKS, &[&self.id(), &numbers]).await? {
            let parent_hash = row.get::<_, Option<&[u8]>>(2).map(hash);
            let head = BlockHead {
                number: u64_at(&row, 0),
                hash: hash(row.get(1)),
                parent_hash: parent_hash.unwrap_or_default(),
                proof: Default::default(),
                timestamp: u64_at(&row, 3),
                tx_count: u32_at(&row, 4),
                receipt_count: u32_at(&row, 5),
                has_traces: row.get(6),
            };
            links.insert(head.number, (head, parent_hash));
        }
        Ok(links)
    }
}

/// Whether each block to be applied is new; an error where the change does not fit.
fn check(links: &Links, change: &ChangeOf<BlockHead>) -> Result<Vec<bool>, Error> {
    let stored = StoredChain {
        hash: &|number| Ok(links.get(&number).map(|(head, _)| head.hash)),
        parent_hash: &|number| Ok(links.get(&number).and_then(|(_, parent)| *parent)),
    };
    fit::check_amends(&stored, change)?;
    let is_new = fit::blocks_to_write(&stored, change)?;
    let head =
        |number: u64| links.get(&number).map(|(head, _)| head).ok_or(Error::NotStored { number });
    for number in &change.revert {
        head(*number)?;
    }
    for block in &change.amend {
        fit::check_loses_nothing(head(block.number)?, block)?;
    }
    for block in &change.untrace {
        fit::check_loses_traces_only(head(block.number)?, block)?;
    }
    Ok(is_new)
}

/// Of the whole change, after those that there are.
fn entries(
    change: &ChangeOf<BlockHead>,
    is_new: &[bool],
    links: &Links,
    mut seq: u64,
) -> Vec<Entry> {
    let origin: Origin = change.origin;
    let gone = |number: &u64| {
        let hash = links.get(number).map(|(head, _)| head.hash).unwrap_or_default();
        (EntryKind::Revert, *number, hash)
    };
    let amended = change.amend.iter().chain(&change.untrace);
    let amended = amended.map(|block| (EntryKind::Amend, block.number, block.hash));
    let applied = change.apply.iter().zip(is_new).filter(|(_, is_new)| **is_new);
    let applied = applied.map(|(block, _)| (EntryKind::Apply, block.number, block.hash));
    let all = change.revert.iter().map(gone).chain(amended).chain(applied);
    let entry = |(kind, number, hash)| {
        seq += 1;
        Entry { seq, kind, origin, number, hash }
    };
    all.map(entry).collect()
}
