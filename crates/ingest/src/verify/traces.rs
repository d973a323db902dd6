//! Traces are covered by no hash; what can be held against the transaction is.

use model::raw::{Frame, FrameKind, Receipt, Tx};

use super::checks::{Checks, Lie};

impl Checks<'_> {
    /// True when traces are there and every one fits its transaction.
    pub(super) fn traces(&self) -> Result<bool, Lie> {
        let Some(traces) = &self.block.traces else { return Ok(false) };
        if traces.len() != self.block.txs.len() {
            return Err(self.lie("traces", self.block.txs.len(), traces.len()));
        }
        let mut complete = true;
        for ((tx, receipt), frames) in self.block.txs.iter().zip(&self.block.receipts).zip(traces) {
            // System transactions are often not traced at all.
            let Some(root) = frames.first() else {
                complete = false;
                continue;
            };
            self.root_frame(tx, receipt.as_ref(), root)?;
            self.tree(tx, frames)?;
        }
        Ok(complete)
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
            return Err(self.lie("trace root", expected, got));
        }
        let status = receipt.and_then(|r| r.status);
        if let Some(status) = status
            && (status == 1) != root.error.is_none()
            && self.is_strict()
        {
            let expected = format!("status {status} of {hash}");
            return Err(self.lie("trace outcome", expected, format!("{:?}", root.error)));
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
                return Err(self.lie("trace tree", "calls numbered without a gap", got));
            }
            open.clone_from(&frame.path);
        }
        Ok(())
    }
}
