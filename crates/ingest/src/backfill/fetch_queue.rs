//! Requests under way for one gap, and blocks that wait for their turn.

use std::collections::BTreeMap;
use std::time::Duration;

use rpc::UpstreamId;
use store::Origin;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::gap::Gap;
use crate::context::Context;
use crate::error::Error;
use crate::flights::HeldBytes;
use crate::panic;
use crate::progress::Task;
use crate::source::{BlockRequest, FetchedBlock, TraceEffort};

/// Blocks written in one commit: enough to make waiting for the disk cheap, and not so many that a block at the head,
/// which has to wait for one of these, is late.
const COMMIT_BLOCKS: usize = 48;
const COMMIT_BLOCKS_MAX: usize = 72;

/// An answer that takes longer is told of.
const SLOW: Duration = Duration::from_secs(5);

type Response = (u64, Result<Vec<FetchedBlock>, Error>);

/// How much is asked for at once.
#[derive(Clone, Copy)]
pub struct Pace {
    pub segment_blocks: usize,
    pub workers: usize,
}

impl Pace {
    /// So that a block that nobody has keeps none back that somebody has.
    pub const ONE_BY_ONE: Pace = Pace { segment_blocks: 1, workers: 1 };
}

pub struct FetchQueue<'a> {
    context: &'a Context,
    gap: Gap,
    pace: Pace,
    avoid: Option<UpstreamId>,
    /// The highest block not yet asked for; none when all are.
    unasked: Option<u64>,
    /// The highest block not yet handed out.
    due: u64,
    requests: JoinSet<Response>,
    /// By the highest number of each answer.
    waiting: BTreeMap<u64, Waiting>,
    next_answer: NextAnswer,
}

/// Blocks of one answer.
struct Waiting {
    blocks: Vec<FetchedBlock>,
    held: HeldBytes,
}

/// Blocks whose turn has come, highest first.
#[derive(Default)]
pub struct ReadyBlocks {
    pub blocks: Vec<FetchedBlock>,
    /// To be kept until they are written.
    pub held: Vec<HeldBytes>,
}

/// The answer that all others wait for.
struct NextAnswer {
    /// The highest block in it.
    top: u64,
    since: Instant,
    is_told: bool,
}

impl NextAnswer {
    fn new(top: u64) -> Self {
        NextAnswer { top, since: Instant::now(), is_told: false }
    }

    async fn is_slow(&self) {
        let waited = self.since.elapsed();
        let times = (waited.as_secs() / SLOW.as_secs()) as u32 + 1;
        sleep_until(self.since + SLOW * times).await;
    }
}

impl<'a> FetchQueue<'a> {
    pub fn new(context: &'a Context, gap: Gap, pace: Pace, avoid: Option<UpstreamId>) -> Self {
        let (unasked, due) = (Some(gap.top), gap.top);
        FetchQueue {
            context,
            gap,
            pace,
            avoid,
            unasked,
            due,
            requests: JoinSet::new(),
            waiting: BTreeMap::new(),
            next_answer: NextAnswer::new(due),
        }
    }

    /// Asks for more, highest first, as far as workers and memory allow.
    pub fn submit(&mut self) {
        let config = &self.context.config;
        while self.requests.len() < self.pace.workers.max(1)
            && (!self.context.flights.is_full() || self.requests.is_empty())
            && let Some(top) = self.unasked
        {
            let length = self.pace.segment_blocks.max(1) as u64;
            let bottom = top.saturating_sub(length - 1).max(self.gap.bottom);
            self.unasked = (bottom > self.gap.bottom).then(|| bottom - 1);
            let source = self.context.source.clone();
            let (origin, senders) = (Origin::History, config.senders.into());
            let (traces, avoid) = (TraceEffort::History, self.avoid);
            let request = BlockRequest { origin, senders, traces, only: None, avoid };
            self.requests.spawn(async move {
                let numbers: Vec<u64> = (bottom..=top).rev().collect();
                (top, source.blocks(&numbers, request).await)
            });
        }
    }

    pub fn is_under_way(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Takes in the next answer, in whatever order they come; false when none is under way.
    pub async fn next(&mut self) -> Result<bool, Error> {
        let response = loop {
            tokio::select! {
                response = self.requests.join_next() => break response,
                () = self.next_answer.is_slow() => self.tell_slow(),
            }
        };
        let Some(response) = response else { return Ok(false) };
        let (top, blocks) = response.map_err(|error| panic::ended(error, "fetching history"))?;
        let blocks = blocks?;
        let held = self.context.flights.hold(bytes(&blocks));
        self.waiting.insert(top, Waiting { blocks, held });
        self.look_for_next_answer();
        Ok(true)
    }

    fn look_for_next_answer(&mut self) {
        let mut top = self.due;
        while let Some(Waiting { blocks, .. }) = self.waiting.get(&top) {
            top = top.saturating_sub(blocks.len().max(1) as u64);
            if top == 0 {
                break;
            }
        }
        if top != self.next_answer.top {
            if self.next_answer.is_told {
                self.context.progress.set_waiting(Task::Backfill, None);
            }
            self.next_answer = NextAnswer::new(top);
        }
    }

    fn tell_slow(&mut self) {
        let (number, seconds) = (self.next_answer.top, self.next_answer.since.elapsed().as_secs());
        let why = format!("block {number}, with some below it, was asked for {seconds} s ago");
        self.context.progress.set_waiting(Task::Backfill, Some(why));
        if !std::mem::replace(&mut self.next_answer.is_told, true) {
            let chain = self.context.chain_id().0;
            tracing::info!(chain.id = chain, block.number = number, "history waits for a block");
        }
    }

    /// Small groups wait for more while requests are under way, so that a commit is worth its disk write, unless
    /// everything is wanted or memory is short.
    pub fn take_ready(&mut self, everything: bool) -> ReadyBlocks {
        let mut due = Some(self.due);
        let mut tops = Vec::new();
        let mut count = 0;
        while let Some(top) = due
            && count < COMMIT_BLOCKS_MAX
            && let Some(Waiting { blocks, .. }) = self.waiting.get(&top)
        {
            tops.push(top);
            count += blocks.len();
            due = top.checked_sub(blocks.len() as u64);
        }
        let last = self.requests.is_empty() && self.unasked.is_none();
        let is_worth_it = count >= COMMIT_BLOCKS || self.context.flights.is_nearly_full();
        if !is_worth_it && !last && !everything {
            return ReadyBlocks::default();
        }
        self.due = due.unwrap_or(0);
        let mut ready = ReadyBlocks::default();
        for Waiting { blocks, held } in tops.iter().filter_map(|top| self.waiting.remove(top)) {
            ready.blocks.extend(blocks);
            ready.held.push(held);
        }
        ready
    }
}

fn bytes(blocks: &[FetchedBlock]) -> usize {
    blocks.iter().map(|fetched| fetched.block.bytes()).sum()
}
