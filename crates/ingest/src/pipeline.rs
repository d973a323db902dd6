//! verify → decode → prepare: the way of every block from its source to the store.
//!
//! In: a block as a node or a file told it. Out: the block in the form that `Store::commit` takes, or
//! the lie that was found in it. Work for a processor, done by many threads at once; must not know where
//! blocks come from.

use std::sync::Arc;

use decode::Decoder;
use model::chain::Chain;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::Block;
use store::{PreparedBlock, Store, VerifiedBlock};

use crate::verify::{Lie, Rules, Senders, has_every_root, verify, verify_header};

/// Finds the facts of a block.
pub type DecodeFn = Arc<dyn Fn(&Block) -> Facts + Send + Sync>;

/// The decoders that the chain's table names.
pub fn decoder_of(chain: &Chain) -> DecodeFn {
    let decoder = Decoder::new(chain);
    Arc::new(move |block| decoder.decode(block))
}

/// Whether blocks come from a dev chain that bears the id of a public one.
pub(crate) type IsDevChainFn = Box<dyn Fn() -> bool + Send + Sync>;

/// A block with a lie in it.
pub(crate) struct Refused {
    pub lie: Lie,
    pub block: Box<Block>,
}

pub(crate) struct Pipeline {
    store: Store,
    chain: Arc<Chain>,
    decode: DecodeFn,
    is_dev_chain: IsDevChainFn,
}

impl Pipeline {
    pub fn new(
        store: Store,
        chain: Arc<Chain>,
        decode: DecodeFn,
        is_dev_chain: IsDevChainFn,
    ) -> Self {
        Pipeline { store, chain, decode, is_dev_chain }
    }

    /// A block at the head is about to be verified and committed.
    pub fn expect_head(&self) {
        self.store.expect_head(self.chain.id);
    }

    pub fn run(&self, mut block: Block, senders: Senders) -> Result<PreparedBlock, Refused> {
        if block.txs.is_empty() {
            // There is nothing to trace, so nobody need be asked.
            block.traces = Some(Vec::new());
        } else if !has_every_root(&block) {
            block.traces = None;
        }
        let proof = match self.verify(&block, senders) {
            Ok(proof) => proof,
            Err(lie) => return Err(Refused { lie, block: Box::new(block) }),
        };
        let facts = self.decode(&block);
        Ok(self.store.prepare(self.chain.id, VerifiedBlock { block, proof, facts }))
    }

    /// A stored block without its traces, which are no longer believed.
    pub fn untraced(&self, mut block: Block, proof: Proof) -> PreparedBlock {
        block.traces = None;
        let (facts, proof) =
            (self.decode(&block), proof.without(Proof::TRACES).without(Proof::FORMS));
        self.store.prepare(self.chain.id, VerifiedBlock { block, proof, facts })
    }

    /// What holds of a block of this chain.
    pub fn verify(&self, block: &Block, senders: Senders) -> Result<Proof, Lie> {
        verify(block, &self.rules(senders))
    }

    /// Whether the hash of a header could be recomputed; a lie where it is another one.
    pub fn verify_header(&self, block: &Block) -> Result<bool, Lie> {
        verify_header(block, &self.rules(Senders::Sample))
    }

    pub fn is_dev_chain(&self) -> bool {
        (self.is_dev_chain)()
    }

    fn rules(&self, senders: Senders) -> Rules {
        match self.is_dev_chain() {
            true => Rules::of_dev_chain(&self.chain, senders),
            false => Rules::of(&self.chain, senders),
        }
    }

    /// Trades that a block does not bear out are kept and counted.
    fn decode(&self, block: &Block) -> Facts {
        let facts = (self.decode)(block);
        let doubtful = facts.trades.iter().filter(|trade| !trade.reconciled).count() as u64;
        for (name, count) in [
            ("headwater_trades_decoded_total", facts.trades.len() as u64),
            // Trades whose transfers or payments are not all there; rows of the live profile say so.
            ("headwater_trades_unreconciled_total", doubtful),
        ] {
            if count > 0 {
                metrics::counter!(name, "chain" => self.chain.slug.clone()).increment(count);
            }
        }
        facts
    }
}
