//! Blocks of which less is proven than of others of their chain: somebody else may have them better.
//!
//! History asks around at leisure (`blocks`). The head does not wait for long: its block is asked of another node
//! once, and waits as long as it would for traces.

use model::proof::Proof;
use store::Origin;

use super::blocks::{BlockRequest, FetchedBlock};
use super::node::NodeSource;

impl NodeSource {
    /// The same blocks from another node, where more of them is proven, nothing of them is lost, and it is quick.
    pub(super) async fn better_at_head(
        &self,
        numbers: &[u64],
        request: BlockRequest,
        blocks: Vec<FetchedBlock>,
    ) -> Vec<FetchedBlock> {
        let missing = self.missing_proof(&blocks);
        // Where anybody might be asked, everybody was.
        let Some(only) = request.only.filter(|_| request.origin == Origin::Head) else {
            return blocks;
        };
        if missing.is_empty() || self.pool.upstreams().len() < 2 {
            return blocks;
        }
        let request = BlockRequest { only: None, avoid: Some(only), ..request };
        let asked =
            tokio::time::timeout(self.head_traces_within, self.best(numbers, request)).await;
        let Ok(Ok(others)) = asked else { return blocks };
        let is_same = others.len() == blocks.len()
            && blocks.iter().zip(&others).all(|(ours, theirs)| {
                ours.block.hash == theirs.block.hash
                    && (theirs.block.has_traces || !ours.block.has_traces)
            });
        let is_better = self.missing_proof(&others).count() < missing.count();
        if is_same && is_better { others } else { blocks }
    }

    /// What is proven of the chain's blocks as a rule; of a dev chain that bears its id nobody knows.
    fn usual_proof(&self) -> Proof {
        if self.pipeline.is_dev_chain() { Proof::default() } else { self.chain.proof }
    }

    /// What these blocks lack of the proof that blocks of the chain have as a rule.
    pub(super) fn missing_proof(&self, blocks: &[FetchedBlock]) -> Proof {
        let mut missing = Proof::default();
        blocks.iter().for_each(|it| missing.add(it.block.proof.missing(self.usual_proof())));
        missing
    }

    /// Nobody has them better: they are stored for what they are, and not without a word.
    pub(super) fn as_lowered(&self, blocks: Vec<FetchedBlock>) -> Vec<FetchedBlock> {
        for FetchedBlock { block, upstream, .. } in &blocks {
            let missing = block.proof.missing(self.usual_proof());
            if missing.is_empty() {
                continue;
            }
            let missing: Vec<&str> = missing.names().collect();
            let upstream = self.pool.label(*upstream);
            tracing::warn!(
                chain.id = self.chain.id.0, block.number = block.number, %upstream, ?missing,
                "less of this block is proven than of others of its chain"
            );
            let chain = self.chain.slug.clone();
            metrics::counter!("headwater_blocks_below_proof_total", "chain" => chain).increment(1);
        }
        blocks
    }
}
