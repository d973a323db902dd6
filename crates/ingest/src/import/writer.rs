//! The writing end of an import: many blocks in one commit, and none kept out by another.
//!
//! In: blocks in any order, some of them twice. Out: commits, and what became of each block. Coverage is
//! written anew with every commit, so an import of single blocks far apart needs large ones.

use std::collections::HashMap;

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Level;
use store::{Change, Origin, PreparedBlock, Store, View};
use tokio::sync::mpsc;

use super::{EventFn, FromReader, ImportEvent, Refusal, Summary};
use crate::commit::{BlockUse, Committer, Turn};
use crate::error::Error;

/// What is written in one commit at most.
const COMMIT_BLOCKS: usize = 256;
const COMMIT_BYTES: usize = 32 << 20;

pub(super) struct ImportWriter<'a> {
    store: &'a Store,
    chain: ChainId,
    committer: &'a Committer,
    tell: EventFn<'a>,
    summary: Summary,
}

/// What one commit is made of, and who has to wait for the next: a second copy may complete the first.
#[derive(Default)]
struct Sorted {
    apply: Vec<PreparedBlock>,
    amend: Vec<PreparedBlock>,
    later: Vec<PreparedBlock>,
    /// Hash and parent of the blocks to be written, by number.
    links: HashMap<u64, (B256, B256)>,
}

impl<'a> ImportWriter<'a> {
    pub fn new(
        store: &'a Store,
        chain: ChainId,
        committer: &'a Committer,
        tell: EventFn<'a>,
    ) -> Self {
        ImportWriter { store, chain, committer, tell, summary: Summary::default() }
    }

    // The receiver is owned: readers that wait to hand over a block must notice when writing ends early.
    pub async fn run(mut self, mut receiver: mpsc::Receiver<FromReader>) -> Result<Summary, Error> {
        let (mut waiting, mut bytes) = (Vec::new(), 0);
        while let Some(message) = receiver.recv().await {
            match message {
                FromReader::Block(block) => {
                    bytes += block.bytes();
                    waiting.push(*block);
                }
                FromReader::Refused(refusal) => self.refuse(refusal),
                FromReader::FileDone(path) => (self.tell)(ImportEvent::FileDone(&path)),
            }
            if waiting.len() >= COMMIT_BLOCKS || bytes >= COMMIT_BYTES {
                self.write(std::mem::take(&mut waiting)).await?;
                bytes = 0;
            }
        }
        self.write(waiting).await?;
        Ok(self.summary)
    }

    fn refuse(&mut self, refusal: Refusal) {
        (self.tell)(ImportEvent::Refused(&refusal));
        self.summary.refused.push(refusal);
    }

    async fn write(&mut self, mut blocks: Vec<PreparedBlock>) -> Result<(), Error> {
        let committer = self.committer;
        while !blocks.is_empty() {
            let turn = committer.turn().await;
            let Sorted { apply, amend, later, .. } = self.sort(&turn, blocks).await?;
            if !apply.is_empty() || !amend.is_empty() {
                self.count(&apply, &amend);
                let origin = Origin::Import;
                turn.commit(Change { origin, amend, apply, ..Change::default() }).await?;
            }
            blocks = later;
        }
        Ok(())
    }

    fn count(&mut self, apply: &[PreparedBlock], amend: &[PreparedBlock]) {
        let summary = &mut self.summary;
        summary.commits += 1;
        summary.blocks += apply.len() as u64;
        summary.completed += amend.len() as u64;
        for block in apply.iter().chain(amend) {
            summary.untraced += u64::from(!block.has_traces);
            match block.proof.level() {
                Level::Verified => summary.verified += 1,
                Level::Partial => summary.partial += 1,
                Level::Unverified => summary.unverified += 1,
            }
        }
        let transactions = apply.iter().map(|block| u64::from(block.tx_count)).sum();
        summary.transactions += transactions;
        let blocks = (apply.len() + amend.len()) as u64;
        (self.tell)(ImportEvent::Blocks { blocks, transactions });
    }

    /// What does not fit what is stored, or what came before it, is refused here, since one of them
    /// would fail the commit of all.
    async fn sort(&mut self, turn: &Turn<'_>, blocks: Vec<PreparedBlock>) -> Result<Sorted, Error> {
        let view = self.store.view().await?;
        let mut sorted = Sorted::default();
        for block in blocks {
            let number = block.number;
            if sorted.links.contains_key(&number) {
                sorted.later.push(block);
                continue;
            }
            let link = (block.hash, block.parent_hash);
            match turn.use_of(&view, &block).await? {
                BlockUse::New => match self.misfit(&view, &sorted, &block).await? {
                    None => {
                        sorted.links.insert(number, link);
                        sorted.apply.push(block);
                    }
                    Some(source) => self.refuse(Refusal::Store { number, source }),
                },
                BlockUse::Completes => {
                    sorted.links.insert(number, link);
                    sorted.amend.push(block);
                }
                BlockUse::Known => {
                    self.summary.already_stored += 1;
                    (self.tell)(ImportEvent::Blocks { blocks: 1, transactions: 0 });
                }
                BlockUse::Other { stored } => {
                    let source = store::Error::Occupied { number, stored };
                    self.refuse(Refusal::Store { number, source });
                }
            }
        }
        Ok(sorted)
    }

    /// Why a new block cannot stand between its neighbours.
    async fn misfit(
        &self,
        view: &View,
        sorted: &Sorted,
        block: &PreparedBlock,
    ) -> Result<Option<store::Error>, Error> {
        let number = block.number;
        if let Some(neighbour) = number.checked_sub(1) {
            let below = match sorted.links.get(&neighbour) {
                Some((hash, _)) => Some(*hash),
                None => view.block_summary(self.chain, neighbour).await?.map(|it| it.hash),
            };
            let got = block.parent_hash;
            if let Some(expected) = below.filter(|hash| *hash != got) {
                return Ok(Some(store::Error::Detached { number, neighbour, expected, got }));
            }
        }
        if let Some(neighbour) = number.checked_add(1) {
            let above = match sorted.links.get(&neighbour) {
                Some((_, parent)) => Some(*parent),
                None => view.parent_hash(self.chain, neighbour).await?,
            };
            let got = block.hash;
            if let Some(expected) = above.filter(|parent| *parent != got) {
                return Ok(Some(store::Error::Detached { number, neighbour, expected, got }));
            }
        }
        Ok(None)
    }
}
