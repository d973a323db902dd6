//! Traces are covered by no hash. What follows from the transaction is held against their root, and what the
//! EVM allows against the rest of the tree: what holds is consistent, not proven.

use model::raw::{Block, Frame, FrameKind, Receipt, Tx};

use super::checks::{Checks, Lie};
use super::trace_tree::{self, Misfit, TreeRules};

const ROOT: &str = "trace root";
const OUTCOME: &str = "trace outcome";
/// What they move does not explain a balance: found by an audit.
pub const BALANCE: &str = "trace balance";

/// Whether a lie was told by traces, and by nothing else of the block.
pub fn is_about_traces(lie: &Lie) -> bool {
    [ROOT, OUTCOME, BALANCE].contains(&lie.check) || trace_tree::CHECKS.contains(&lie.check)
}

/// Whether every transaction has its root frame. A block that lacks one is untraced: what is missing
/// may be any number of internal transactions.
pub fn has_every_root(block: &Block) -> bool {
    let Some(traces) = &block.traces else { return false };
    let has_root = |frames: &Vec<Frame>| frames.first().is_some_and(|root| root.path.is_empty());
    traces.len() == block.txs.len() && traces.iter().all(has_root)
}

impl Checks<'_> {
    /// True when traces are there, of every transaction, and every one fits it.
    pub(super) fn traces(&self) -> Result<bool, Lie> {
        let Some(traces) = &self.block.traces else { return Ok(false) };
        let rules = if self.is_strict() { TreeRules::Evm } else { TreeRules::Shape };
        for ((tx, receipt), frames) in self.block.txs.iter().zip(&self.block.receipts).zip(traces) {
            let Some(root) = frames.first() else { continue };
            if self.is_strict() {
                self.root_frame(tx, receipt.as_ref(), root)?;
            }
            trace_tree::check(frames, rules).map_err(|misfit| {
                let Misfit { check, expected, got } = misfit;
                self.lie(check, expected, format!("{got} in {}", tx.hash.unwrap_or_default()))
            })?;
        }
        Ok(has_every_root(self.block))
    }

    /// The root is the transaction itself.
    fn root_frame(&self, tx: &Tx, receipt: Option<&Receipt>, root: &Frame) -> Result<(), Lie> {
        let hash = tx.hash.unwrap_or_default();
        let creates = tx.to.is_none();
        let kind = if creates { FrameKind::Create } else { FrameKind::Call };
        let made = receipt.and_then(|receipt| receipt.contract_address);
        // A creation that failed names no address, or the one that it would have had.
        let to_fits = if creates {
            root.to == made || root.to.is_none() && root.error.is_some() || made.is_none()
        } else {
            root.to == tx.to
        };
        let fits = root.path.is_empty()
            && root.kind == kind
            && Some(root.from) == tx.from
            && to_fits
            && tx.value.is_none_or(|value| value == root.value)
            && tx.input.as_ref().is_none_or(|input| *input == root.input)
            && tx.gas.is_none_or(|gas| root.gas <= gas && root.gas_used <= gas);
        if !fits {
            let expected = format!("a root call like transaction {hash}");
            let Frame { kind, from, to, value, gas, .. } = root;
            let input = root.input.len();
            let got = format!(
                "{} from {from} to {to:?}, value {value}, gas {gas}, {input} bytes of input",
                kind.name()
            );
            return Err(self.lie(ROOT, expected, got));
        }
        let status = receipt.and_then(|receipt| receipt.status);
        match status {
            Some(status) if (status == 1) != root.error.is_none() => {
                let expected = format!("status {status} of {hash}");
                Err(self.lie(OUTCOME, expected, format!("{:?}", root.error)))
            }
            _ => Ok(()),
        }
    }
}
