//! One fault and when it strikes: on which blocks and methods, how likely, how many times.

use super::tamper::Tamper;
use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The answer comes this much later.
    Delay(Duration),
    /// An HTTP status with no JSON; over WebSocket the connection is closed.
    HttpError(u16),
    RpcError {
        code: i64,
        message: String,
    },
    /// HTTP 429 with `Retry-After`; over WebSocket error -32005.
    RateLimit {
        retry_after_s: u64,
    },
    /// Half of the body, as if the connection had broken.
    TruncatedBody,
    /// A body that never ends; over WebSocket no answer, ever.
    EndlessBody,
    /// Half of the body, then silence with the connection open; over WebSocket no answer, ever.
    StalledBody,
    /// Half of the body, then the connection is closed; over WebSocket it is closed at once.
    BrokenBody,
    /// No answer, ever.
    Hang,
    /// `eth_chainId` and `net_version` tell this one.
    WrongChainId(u64),
    /// Every second call sees the chain without its last three blocks, as behind a load balancer.
    FlappingHead,
    /// The node has not seen the last blocks.
    Lag(u64),
    /// The newest block is said to be this one, which the node does not have.
    FarHead(u64),
    /// The method does not exist (-32601). Say which by `on_methods`.
    NoMethod,
    /// `null`, as of a block that the node does not have.
    NotFound,
    /// This JSON, whatever was asked.
    Reply(String),
    RefuseBatches,
    MaxBatch(usize),
    /// Subscriptions are accepted, but nothing is ever sent.
    SilentSubscription,
    /// The answer is altered.
    Tamper(Tamper),
}

impl Fault {
    pub(super) fn is_about_batches(&self) -> bool {
        matches!(self, Self::RefuseBatches | Self::MaxBatch(_))
    }

    /// Some faults mean certain methods, whatever the rule says.
    fn concerns(&self, method: &str) -> bool {
        match self {
            Self::WrongChainId(_) => matches!(method, "eth_chainId" | "net_version"),
            Self::FarHead(_) => method == "eth_getBlockByNumber",
            Self::SilentSubscription => method == "eth_subscription",
            Self::Tamper(tamper) => tamper.concerns(method),
            _ => true,
        }
    }
}

/// A fault with its limits. Without any limit it always strikes.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) fault: Fault,
    pub(super) probability: f64,
    blocks: Vec<RangeInclusive<u64>>,
    methods: Vec<String>,
    times_left: Option<TimesLeft>,
}

#[derive(Clone, Debug)]
enum TimesLeft {
    /// Of this rule.
    Own(u32),
    /// Of this rule and its clones, wherever they are.
    Shared(Arc<AtomicU32>),
}

impl From<Fault> for Rule {
    fn from(fault: Fault) -> Self {
        Self::new(fault)
    }
}

impl From<Tamper> for Rule {
    fn from(tamper: Tamper) -> Self {
        Self::new(Fault::Tamper(tamper))
    }
}

impl Rule {
    pub fn new(fault: Fault) -> Self {
        Self { fault, probability: 1.0, blocks: Vec::new(), methods: Vec::new(), times_left: None }
    }

    /// The node does not know these methods.
    pub fn no_methods<M: Into<String>>(methods: impl IntoIterator<Item = M>) -> Self {
        Self::new(Fault::NoMethod).on_methods(methods)
    }

    pub fn no_block_receipts() -> Self {
        Self::no_methods(["eth_getBlockReceipts"])
    }

    pub fn no_debug_trace() -> Self {
        Self::no_methods(["debug_traceBlockByNumber", "debug_traceBlockByHash"])
    }

    pub fn no_parity_trace() -> Self {
        Self::no_methods(["trace_block"])
    }

    /// Only requests about these blocks. May be said several times.
    pub fn on_blocks(mut self, blocks: RangeInclusive<u64>) -> Self {
        self.blocks.push(blocks);
        self
    }

    pub fn on_block(self, number: u64) -> Self {
        self.on_blocks(number..=number)
    }

    pub fn on_methods<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        self.methods.extend(methods.into_iter().map(Into::into));
        self
    }

    /// 0.1: one request in ten, by a seeded coin.
    pub fn with_probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    pub fn times(mut self, times: u32) -> Self {
        self.times_left = Some(TimesLeft::Own(times));
        self
    }

    /// The same for all clones together: whichever node is asked first, it strikes there.
    pub fn times_shared(mut self, times: u32) -> Self {
        self.times_left = Some(TimesLeft::Shared(Arc::new(AtomicU32::new(times))));
        self
    }

    pub(super) fn fits(&self, method: &str, block: Option<u64>) -> bool {
        let names_method = self.methods.is_empty() || self.methods.iter().any(|m| m == method);
        let names_block = self.blocks.is_empty()
            || block.is_some_and(|number| self.blocks.iter().any(|range| range.contains(&number)));
        names_method && names_block && self.fault.concerns(method)
    }

    /// Takes one of the times it may strike; false when none is left.
    pub(super) fn use_up(&mut self) -> bool {
        match &mut self.times_left {
            None => true,
            Some(TimesLeft::Own(0)) => false,
            Some(TimesLeft::Own(left)) => {
                *left -= 1;
                true
            }
            Some(TimesLeft::Shared(left)) => {
                let one_less = |left: u32| left.checked_sub(1);
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
            }
        }
    }
}
