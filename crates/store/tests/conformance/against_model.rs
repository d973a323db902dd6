//! Random chains, changes, rebuilds, readers, restarts and crashes: after each step every answer is that
//! of the plain model.

use alloy_primitives::B256;
use model::proof::Proof;
use proptest::prelude::*;
use proptest::sample::Index;
use store::{Change, Decoded, HeldBy, Origin, Pruned, Start, VerifiedBlock};
use testkit::SimChain;

use crate::chain::{CHAIN, block, proven, small_chain};
use crate::compare::compare;
use crate::decoders::{Decoder, NEW, OLD, patience, rebuild, start};
use crate::engine::{Choices, Engine, on_every_engine_at_random};
use crate::follower::Follower;
use crate::home::Home;
use crate::model::{Model, Step, facts_by};
use crate::random;

on_every_engine_at_random!(every_answer_is_that_of_the_plain_model);

#[derive(Clone, Debug)]
enum Op {
    Extend(usize),
    Reorg {
        depth: usize,
        new_len: usize,
    },
    /// The next blocks above the newest; before that, in the same change, what is no longer on the
    /// chain goes, and some blocks may get their traces.
    Follow {
        count: usize,
        has_traces: bool,
        amends: usize,
    },
    /// The next blocks below the newest range, newest first.
    History {
        count: usize,
        has_traces: bool,
    },
    /// Blocks anywhere.
    Import {
        at: Index,
        count: usize,
    },
    Revert(usize),
    Amend(usize),
    /// All but the newest go, some of them in this step.
    Prune {
        keep: usize,
        limit: usize,
    },
    SwitchDecoder,
    Rebuild(usize),
    FinishRebuild,
    Reopen,
    Crash,
    Read {
        who: usize,
        steps: usize,
        commits: bool,
    },
    /// Away without a word; it comes back with the next `Read`.
    Leave(usize),
    Remove(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let follow = (1usize..5, any::<bool>(), 0usize..3);
    prop_oneof![
        3 => (1usize..4).prop_map(Op::Extend),
        2 => (1usize..6, 0usize..7).prop_map(|(depth, new_len)| Op::Reorg { depth, new_len }),
        6 => follow.prop_map(|(count, has_traces, amends)| Op::Follow { count, has_traces, amends }),
        3 => (1usize..5, any::<bool>())
            .prop_map(|(count, has_traces)| Op::History { count, has_traces }),
        2 => (any::<Index>(), 1usize..4).prop_map(|(at, count)| Op::Import { at, count }),
        2 => (1usize..4).prop_map(Op::Revert),
        2 => (1usize..4).prop_map(Op::Amend),
        4 => (1usize..9, 1usize..6).prop_map(|(keep, limit)| Op::Prune { keep, limit }),
        1 => Just(Op::SwitchDecoder),
        2 => (1usize..9).prop_map(Op::Rebuild),
        1 => Just(Op::FinishRebuild),
        1 => Just(Op::Reopen),
        1 => Just(Op::Crash),
        5 => (0..READERS.len(), 1usize..9, any::<bool>())
            .prop_map(|(who, steps, commits)| Op::Read { who, steps, commits }),
        1 => (0..READERS.len()).prop_map(Op::Leave),
        1 => (0..READERS.len()).prop_map(Op::Remove),
    ]
}

const READERS: [(&str, Start); 3] =
    [("low", Start::Block(3)), ("high", Start::Block(9)), ("head", Start::Head)];

struct World {
    home: Home,
    model: Model,
    chain: SimChain,
    readers: [Option<Follower>; 3],
}

impl World {
    async fn new(engine: Engine, seed: u64) -> Self {
        let choices = Choices { durable: true, journal_entries_min: 3 };
        let home = Home::with(engine, choices).await;
        start(&home, OLD).await;
        let (model, chain) = (Model::new(OLD), small_chain(seed, 12));
        World { home, model, chain, readers: [None, None, None] }
    }

    fn block(&self, hash: B256, has_traces: bool) -> VerifiedBlock {
        let mut block = block(&self.chain, hash);
        let mut proof = proven();
        if !has_traces {
            (block.traces, proof) = (None, proof.without(Proof::TRACES));
        }
        let facts = facts_by(self.model.decoder, &block);
        VerifiedBlock { block, proof, facts }
    }

    fn at(&self, number: u64, has_traces: bool) -> VerifiedBlock {
        self.block(self.chain.block(number).unwrap().hash, has_traces)
    }

    /// Stored blocks that the chain has left, newest first.
    fn stale(&self) -> Vec<u64> {
        let is_stale = |(number, stored): &(&u64, &VerifiedBlock)| {
            self.chain.block(**number).is_none_or(|block| block.hash != stored.block.hash)
        };
        self.model.blocks.iter().rev().filter(is_stale).map(|(number, _)| *number).collect()
    }

    /// The same change to the store and to the model.
    async fn commit(&mut self, origin: Origin, steps: Vec<Step>) {
        let mut change = Change { origin, ..Change::default() };
        for step in &steps {
            let prepare = |block: &VerifiedBlock| self.home.store().prepare(CHAIN, block.clone());
            match step {
                Step::Revert(number) => change.revert.push(*number),
                Step::Amend(block) => change.amend.push(prepare(block)),
                Step::Apply(block) => change.apply.push(prepare(block)),
            }
        }
        let known = self.model.journal.len();
        self.model.commit(origin, steps);
        let done = self.home.commit(change).await.unwrap();
        assert_eq!(done.entries, self.model.journal[known..]);
        assert_eq!(done.coverage, self.model.coverage());
    }

    /// Applies blocks of the chain that are not stored, after what is stale went.
    async fn apply(&mut self, origin: Origin, blocks: Vec<VerifiedBlock>, amends: usize) {
        let stale = self.stale();
        let lasting = |number: &u64| !stale.contains(number);
        let untraced = self.model.untraced(u64::MAX, usize::MAX).into_iter().filter(lasting);
        let mut steps: Vec<Step> = stale.iter().map(|number| Step::Revert(*number)).collect();
        steps.extend(untraced.take(amends).map(|number| Step::Amend(self.at(number, true))));
        let is_new = |block: &VerifiedBlock| {
            let number = block.block.number;
            stale.contains(&number) || !self.model.blocks.contains_key(&number)
        };
        steps.extend(blocks.into_iter().filter(is_new).map(Step::Apply));
        self.commit(origin, steps).await;
    }

    async fn run(&mut self, op: Op) {
        let newest = self.model.coverage().newest();
        match op {
            Op::Extend(count) => drop(self.chain.extend(count)),
            Op::Reorg { depth, new_len } => {
                // No reorg reaches what was pruned; `prune` has those that do.
                let above = self.chain.head_number().saturating_sub(self.model.pruned_to);
                drop(self.chain.reorg(depth.min(above as usize), new_len));
            }
            Op::Follow { count, has_traces, amends } => {
                let stale = self.stale();
                let lasting = self.model.blocks.keys().rev().find(|n| !stale.contains(n));
                let first = lasting.map_or(8.min(self.chain.head_number()), |newest| newest + 1);
                let last = self.chain.head_number().min(first + count as u64 - 1);
                let blocks = (first..=last).map(|number| self.at(number, has_traces)).collect();
                self.apply(Origin::Head, blocks, amends).await;
            }
            Op::History { count, has_traces } => {
                let Some(newest) = newest.filter(|newest| *newest <= self.chain.head_number())
                else {
                    return;
                };
                let gap = self.model.coverage().gap_below(newest, 0);
                let numbers = gap.into_iter().flat_map(|gap| (0..=gap).rev()).take(count);
                let blocks = numbers.map(|number| self.at(number, has_traces)).collect();
                self.apply(Origin::History, blocks, 0).await;
            }
            Op::Import { at, count } => {
                let first = at.index(self.chain.blocks().len()) as u64;
                let last = self.chain.head_number().min(first + count as u64 - 1);
                let blocks = (first..=last).map(|number| self.at(number, true)).collect();
                self.apply(Origin::Import, blocks, 0).await;
            }
            Op::Revert(count) => {
                let top = self.model.blocks.keys().rev().take(count);
                let steps = top.map(|number| Step::Revert(*number)).collect();
                self.commit(Origin::Head, steps).await;
            }
            Op::Amend(count) => self.apply(Origin::History, Vec::new(), count).await,
            Op::Prune { keep, limit } => self.prune(keep as u64, limit).await,
            other => self.run_beside(other).await,
        }
    }

    /// What changes no block.
    async fn run_beside(&mut self, op: Op) {
        match op {
            Op::SwitchDecoder => {
                self.model.decoder = if self.model.decoder == OLD { NEW } else { OLD };
                start(&self.home, self.model.decoder).await;
            }
            Op::Rebuild(count) => self.rebuild(count).await,
            Op::FinishRebuild => {
                self.rebuild(usize::MAX).await;
                let rebuild = rebuild(&self.home, self.model.decoder).await;
                rebuild.finish(&patience()).await.unwrap();
                self.model.finish_rebuild();
            }
            Op::Reopen | Op::Crash => {
                self.readers = [None, None, None];
                if matches!(op, Op::Crash) {
                    self.home.crash().await;
                } else {
                    self.home.reopen().await;
                }
                start(&self.home, self.model.decoder).await;
            }
            Op::Read { who, steps, commits } => self.read(who, steps, commits).await,
            Op::Leave(who) => self.readers[who] = None,
            Op::Remove(who) => {
                self.readers[who] = None;
                self.home.store().remove_reader(CHAIN, READERS[who].0).await.unwrap();
            }
            _ => {}
        }
    }

    /// Nothing goes that a reader has not passed.
    async fn prune(&mut self, keep: u64, limit: usize) {
        let newest = self.model.coverage().newest().unwrap_or(0);
        let lowest_stale = self.stale().last().copied().unwrap_or(u64::MAX);
        let below = (newest + 1).saturating_sub(keep).min(lowest_stale);
        let readers = self.home.view().await.readers(CHAIN).await.unwrap();
        let slowest = readers.iter().min_by_key(|reader| reader.cursor.next);
        let next = slowest.map_or(u64::MAX, |reader| reader.cursor.next);
        let is_held = self.model.blocks.range(..below).any(|(number, _)| *number >= next);
        let held_by = slowest
            .filter(|_| is_held)
            .map(|reader| HeldBy { reader: reader.name.clone(), next_block: reader.cursor.next });
        let pruned = self.home.store().prune_oldest(CHAIN, below, limit).await.unwrap();
        let blocks = self.model.prune(below.min(next), limit);
        let coverage = self.model.coverage();
        assert_eq!(pruned, Pruned { blocks, coverage, held_by });
    }

    /// Reads the next blocks below what is done, as far as there are so many.
    async fn rebuild(&mut self, count: usize) {
        let decoder: Decoder = self.model.decoder;
        let rebuild = rebuild(&self.home, decoder).await;
        let below = |number: &u64| rebuild.reached().is_none_or(|reached| *number < reached);
        let blocks = self.model.blocks.iter().rev().filter(|(number, _)| below(number));
        let decode = |(number, stored): (&u64, &VerifiedBlock)| {
            let facts = facts_by(decoder, &stored.block);
            Decoded { number: *number, hash: stored.block.hash, facts }
        };
        let blocks: Vec<Decoded> = blocks.take(count).map(decode).collect();
        self.model.rebuild(&blocks);
        let (written, reached) = (blocks.len(), blocks.last().map(|block| block.number));
        if let Some(reached) = reached {
            assert_eq!(rebuild.write(blocks, reached).await.unwrap(), written);
        }
    }

    async fn read(&mut self, who: usize, steps: usize, commits: bool) {
        let (name, from) = READERS[who];
        let reader = match &mut self.readers[who] {
            Some(reader) => reader,
            away => away.insert(Follower::open(self.home.store(), name, from).await),
        };
        for _ in 0..steps {
            if reader.step().await.is_none() {
                if let Some(known) = reader.reader.committed() {
                    let mut run = reader.run();
                    run.retain(|(number, ..)| *number >= self.model.pruned_to);
                    let expected = self.model.run_from(known.start);
                    let last = reader.seen.last_key_value().map(|(number, _)| number + 1);
                    let waits = last.unwrap_or(known.start) < self.model.pruned_to;
                    assert_eq!(run, if waits { Vec::new() } else { expected }, "{name}");
                }
                break;
            }
        }
        if commits {
            reader.commit().await;
        }
    }

    /// Everything that there is to see was seen, and the store is as if written straight.
    async fn check_the_end(mut self) {
        for who in 0..READERS.len() {
            self.read(who, usize::MAX, true).await;
        }
        let straight = Home::new(self.home.engine).await;
        let blocks = self.model.blocks.values().cloned();
        let blocks = blocks.map(|block| straight.store().prepare(CHAIN, block)).collect();
        straight.apply(blocks).await.unwrap();
        assert_eq!(self.home.digest().await, straight.digest().await);
    }
}

fn every_answer_is_that_of_the_plain_model(engine: Engine) {
    let cases = if std::env::var_os("HEADWATER_LONG").is_some() { 400 } else { 24 };
    let case = (0u64..1000, prop::collection::vec(op(), 1..40));
    random::check(&random::runtime(), cases, case, async |(seed, ops)| {
        let mut world = World::new(engine, seed).await;
        for (n, op) in ops.into_iter().enumerate() {
            world.run(op).await;
            compare(&world.home.view().await, &world.model, &world.chain, n as u64).await;
        }
        world.check_the_end().await;
    });
}
