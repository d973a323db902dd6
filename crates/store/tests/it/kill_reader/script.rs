//! What the child writes: the same steps on every run, going on after the last one that is stored.

use std::collections::BTreeMap;
use std::time::Duration;

use alloy_primitives::B256;
use store::{Change, Origin, PreparedBlock, Store, VerifiedBlock};
use testkit::{SimChain, SimConfig};

use super::acknowledged::Acknowledged;
use crate::sim_block::{CHAIN, verified};

/// Where the chain's first stored block is; history is filled below it.
const FIRST: u64 = 40;
const OLDEST: u64 = 25;
/// Between two steps, so that the reader has its turn.
const PAUSE: Duration = Duration::from_millis(1);

/// Numbers that follow from a seed.
pub struct Dice(pub u64);

impl Dice {
    /// SplitMix64.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Numbers of blocks; what is applied or amended is the chain's block of that number.
#[derive(Default)]
struct Step {
    origin: Origin,
    revert: Vec<u64>,
    amend: Vec<u64>,
    apply: Vec<(u64, bool)>,
}

impl Step {
    fn entries(&self) -> u64 {
        (self.revert.len() + self.amend.len() + self.apply.len()) as u64
    }
}

pub struct Script {
    chain: SimChain,
    dice: Dice,
    /// By number: hash, and whether it has traces.
    stored: BTreeMap<u64, (B256, bool)>,
    /// The newest journal entry after the steps so far.
    seq: u64,
}

impl Script {
    /// Behind the last step that the store holds. A step is stored whole or not at all.
    pub async fn at(store: &Store, seed: u64) -> Self {
        let config = SimConfig { txs_per_block: 2, wallets: 6, ..SimConfig::seeded(seed) };
        let mut chain = SimChain::new(SimConfig { keep_text: false, ..config });
        chain.extend(FIRST as usize);
        let mut script = Script { chain, dice: Dice(seed), stored: BTreeMap::new(), seq: 0 };
        let stored = store.version(CHAIN).await.unwrap().seq;
        while script.seq < stored {
            script.next();
        }
        assert_eq!(script.seq, stored, "the last step is stored in part");
        script
    }

    pub async fn write(&mut self, store: &Store, done: &Acknowledged, steps: usize) {
        for _ in 0..steps {
            let step = self.next();
            self.commit(store, step).await;
            done.commit(self.seq);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Every block that is missing, and every trace.
    pub async fn complete(&mut self, store: &Store) {
        let missing = (OLDEST..=self.chain.head_number()).filter(|n| !self.stored.contains_key(n));
        let apply: Vec<(u64, bool)> = missing.map(|number| (number, true)).collect();
        let amend: Vec<u64> = self.untraced().collect();
        let step = Step { apply, amend, ..Step::default() };
        self.note(&step);
        self.commit(store, step).await;
    }

    async fn commit(&self, store: &Store, step: Step) {
        let prepared = |(number, has_traces): (u64, bool)| -> PreparedBlock {
            let mut block: VerifiedBlock =
                verified(&self.chain, self.chain.block(number).unwrap().hash);
            block.block.traces = block.block.traces.filter(|_| has_traces);
            store.prepare(CHAIN, block)
        };
        let change = Change {
            origin: step.origin,
            revert: step.revert.clone(),
            amend: step.amend.iter().map(|number| prepared((*number, true))).collect(),
            apply: step.apply.iter().copied().map(prepared).collect(),
            ..Change::default()
        };
        let done = store.commit(CHAIN, change).await.unwrap();
        assert_eq!(done.entries.len() as u64, step.entries());
        assert_eq!(done.entries.last().map_or(self.seq, |entry| entry.seq), self.seq);
    }

    /// The next step that does anything.
    fn next(&mut self) -> Step {
        loop {
            let step = match self.dice.below(14) {
                0..=4 => self.follow(),
                5..=7 => self.reorganise(),
                8 => self.leave_a_gap(),
                9..=11 => self.fill(),
                _ => self.amend(),
            };
            if step.entries() > 0 {
                self.note(&step);
                return step;
            }
        }
    }

    fn note(&mut self, step: &Step) {
        self.stored.retain(|number, _| !step.revert.contains(number));
        let amended = step.amend.iter().map(|number| (*number, true));
        for (number, has_traces) in amended.chain(step.apply.iter().copied()) {
            let hash = self.chain.block(number).unwrap().hash;
            self.stored.insert(number, (hash, has_traces));
        }
        self.seq += step.entries();
    }

    fn newest(&self) -> u64 {
        self.stored.last_key_value().map_or(FIRST - 1, |(number, _)| *number)
    }

    fn untraced(&self) -> impl Iterator<Item = u64> + '_ {
        let untraced = self.stored.iter().filter(|(_, (_, has_traces))| !has_traces);
        untraced.map(|(number, _)| *number)
    }

    fn follow(&mut self) -> Step {
        self.chain.extend(self.dice.below(2) + usize::from(self.stored.is_empty()));
        let has_traces = self.dice.below(3) > 0;
        let new = self.newest() + 1..=self.chain.head_number();
        let apply = new.map(|number| (number, has_traces)).collect();
        Step { origin: Origin::Head, apply, ..Step::default() }
    }

    fn reorganise(&mut self) -> Step {
        let depth = 1 + self.dice.below(6);
        if self.chain.head_number() < FIRST + 1 + depth as u64 {
            return Step::default();
        }
        let reorg = self.chain.reorg(depth, depth + self.dice.below(2));
        let fork = reorg.dropped[0].number();
        let revert: Vec<u64> = self.stored.range(fork..).rev().map(|(n, _)| *n).collect();
        let apply = (fork..=self.chain.head_number()).map(|number| (number, true)).collect();
        Step { origin: Origin::Head, revert, apply, ..Step::default() }
    }

    /// Only the newest of some blocks; the others are filled in later.
    fn leave_a_gap(&mut self) -> Step {
        self.chain.extend(4);
        let head = self.chain.head_number();
        Step {
            origin: Origin::Import,
            apply: vec![(head - 1, true), (head, true)],
            ..Step::default()
        }
    }

    /// The oldest gap, from below; where there is none, history from above.
    fn fill(&mut self) -> Step {
        let (count, has_traces) = (1 + self.dice.below(3), self.dice.below(2) == 0);
        let is_missing = |number: &u64| !self.stored.contains_key(number);
        let gap = (FIRST..self.newest()).filter(is_missing);
        let history = (OLDEST..FIRST).rev().filter(is_missing);
        let missing = gap.chain(history).filter(|_| !self.stored.is_empty());
        let apply = missing.take(count).map(|number| (number, has_traces)).collect();
        Step { apply, ..Step::default() }
    }

    fn amend(&mut self) -> Step {
        let count = 1 + self.dice.below(3);
        Step { amend: self.untraced().take(count).collect(), ..Step::default() }
    }
}
