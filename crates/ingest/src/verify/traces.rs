//! Traces are covered by no hash; what can be held against the transaction is.

use model::raw::{Block, Frame, FrameKind, Receipt, Tx};

use super::checks::{Checks, Lie};

const TRACE_ROOT: &str = "trace root";
const TRACE_OUTCOME: &str = "trace outcome";
const TRACE_TREE: &str = "trace tree";

/// Whether a lie was told by traces, and by nothing else of the block.
pub(crate) fn is_about_traces(lie: &Lie) -> bool {
    [TRACE_ROOT, TRACE_OUTCOME, TRACE_TREE].contains(&lie.check)
}

/// Whether every transaction has its root frame. A block that lacks one is untraced: what is missing
/// may be any number of internal transactions.
pub(crate) fn has_every_root(block: &Block) -> bool {
    let Some(traces) = &block.traces else { return false };
    let has_root = |frames: &Vec<Frame>| frames.first().is_some_and(|root| root.path.is_empty());
    traces.len() == block.txs.len() && traces.iter().all(has_root)
}

impl Checks<'_> {
    /// True when traces are there, of every transaction, and every one fits it.
    pub(super) fn traces(&self) -> Result<bool, Lie> {
        let Some(traces) = &self.block.traces else { return Ok(false) };
        for ((tx, receipt), frames) in self.block.txs.iter().zip(&self.block.receipts).zip(traces) {
            if let Some(root) = frames.first() {
                self.root_frame(tx, receipt.as_ref(), root)?;
                self.tree(tx, frames)?;
            }
        }
        Ok(has_every_root(self.block))
    }

    fn root_frame(&self, tx: &Tx, receipt: Option<&Receipt>, root: &Frame) -> Result<(), Lie> {
        let hash = tx.hash.unwrap_or_default();
        let fits = root.path.is_empty()
            && Some(root.from) == tx.from
            && (root.kind.is_create() || root.to == tx.to)
            && root.kind.is_create() == tx.to.is_none()
            && tx.value.is_none_or(|v| v == root.value || root.kind == FrameKind::SelfDestruct);
        if !fits && self.is_strict() {
            let expected = format!("a root call like transaction {hash}");
            let got = format!("from {} to {:?} value {}", root.from, root.to, root.value);
            return Err(self.lie(TRACE_ROOT, expected, got));
        }
        let status = receipt.and_then(|r| r.status);
        if let Some(status) = status
            && (status == 1) != root.error.is_none()
            && self.is_strict()
        {
            let expected = format!("status {status} of {hash}");
            return Err(self.lie(TRACE_OUTCOME, expected, format!("{:?}", root.error)));
        }
        Ok(())
    }

    /// Every frame but the root has its parent before it: no call was left out of the middle.
    fn tree(&self, tx: &Tx, frames: &[Frame]) -> Result<(), Lie> {
        let mut open: Vec<u32> = Vec::new();
        for frame in frames.iter().skip(1) {
            let depth = frame.path.len();
            let expected_index = open.get(depth.wrapping_sub(1)).map_or(0, |last| last + 1);
            let whole = depth >= 1
                && depth <= open.len() + 1
                && frame.path.last() == Some(&expected_index)
                && frame.path.get(..depth - 1) == open.get(..depth - 1);
            if !whole {
                let got =
                    format!("{:?} after {open:?} in {}", frame.path, tx.hash.unwrap_or_default());
                return Err(self.lie(TRACE_TREE, "calls numbered without a gap", got));
            }
            open.clone_from(&frame.path);
        }
        Ok(())
    }
}
