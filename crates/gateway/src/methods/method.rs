//! One row of the method table: what the gateway has to know of a method to answer, forward and charge it.

/// A method that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    pub name: &'static str,
    /// Compute units of one call.
    pub cost: u32,
    pub place: Place,
    pub finality: Finality,
    pub block: BlockParam,
    pub forwarding: Forwarding,
}

/// Where an answer is looked for first. Each place but `Here` falls back to the ones below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The gateway itself; no node is asked.
    Here,
    /// The store, where it holds the blocks that the call is about.
    Store,
    /// A node; its answer stays true as long as `finality` says, so it may be kept.
    Cache,
    /// A node, every time.
    Forward,
}

/// What an answer follows from, so how long it stays true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finality {
    /// From the chain or the parameters alone: for ever.
    Constant,
    /// From the block that is named: for ever by hash, by number once the block is final.
    Block,
    /// From where a transaction stands: for ever once that block is final. `null` is never final.
    Transaction,
    /// From the newest block: until the next one.
    Head,
    /// From the node asked, its pool or its peers: not even for a moment.
    Node,
}

/// Which parameter, counted from 0, names the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockParam {
    None,
    /// A number or a tag.
    Number(usize),
    /// A hash.
    Hash(usize),
    /// A number, a tag or a hash as plain text, or an EIP-1898 object. Left out it is `latest`.
    NumberOrHash(usize),
    /// A filter: `fromBlock` and `toBlock`, or `blockHash`.
    Filter(usize),
    /// A transaction's hash, which stands in one block.
    TxHash(usize),
}

/// What may be done with a call on its way to the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forwarding {
    /// A second node may be asked while the first is slow.
    pub may_hedge: bool,
    /// Another node may be asked after the first failed.
    pub may_retry: bool,
    /// A range may be cut in two where a node finds it too large.
    pub may_split: bool,
    /// It changes something: asked of one node, once.
    pub writes: bool,
}

impl Forwarding {
    /// A question any node answers quickly.
    pub const READ: Forwarding =
        Forwarding { may_hedge: true, may_retry: true, may_split: false, writes: false };
    /// A question that costs a node much: not asked twice at the same time.
    pub const HEAVY: Forwarding = Forwarding { may_hedge: false, ..Forwarding::READ };
    /// A question about a range of blocks.
    pub const RANGE: Forwarding = Forwarding { may_split: true, ..Forwarding::HEAVY };
    /// What acts.
    pub const WRITE: Forwarding =
        Forwarding { may_hedge: false, may_retry: false, may_split: false, writes: true };
}
