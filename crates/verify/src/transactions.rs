//! Transaction hashes and the transactions root.

use alloy_primitives::B256;
use model::hash_lanes::keccak_all;
use model::raw::Tx;
use model::raw::tx_rlp::{encode_signed, hash_of};

use super::checks::{Checks, Lie};
use super::root::ordered_root;
use super::sender::is_unsigned;

/// What one pass over the transactions found.
struct Encoded {
    bytes: Vec<Vec<u8>>,
    /// Some transaction is of a type whose encoding we do not know.
    unmodelled: bool,
    /// Some were listed but signed by nobody: their chain may keep them out of the root.
    system: bool,
}

impl Checks<'_> {
    /// True when every transaction is covered by the header's root, and what it says beside that fits.
    pub(super) fn transactions(&self, header_holds: bool) -> Result<bool, Lie> {
        let fields_hold = self.transaction_fields()?;
        let Some(root) = self.block.header.transactions_root else {
            return Ok(false);
        };
        let encoded = self.encode_all()?;
        if encoded.unmodelled {
            return Ok(false);
        }
        let computed = ordered_root(&encoded.bytes);
        if computed == root {
            let covered = !encoded.system || self.block.txs.iter().all(covers_itself);
            let size_holds = !header_holds || self.size(&encoded.bytes)?;
            return Ok(covered && fields_hold && size_holds);
        }
        if encoded.system && !self.knows_all_forms() {
            return self.without_system_transactions(&encoded.bytes, root).map(|()| false);
        }
        Err(self.lie("transactions root", root, computed))
    }

    fn encode_all(&self) -> Result<Encoded, Lie> {
        let txs = &self.block.txs;
        let mut all = Encoded { bytes: Vec::new(), unmodelled: false, system: false };
        all.bytes.reserve(txs.len());
        let mut modelled = Vec::with_capacity(txs.len());
        for tx in txs {
            let mut bytes = Vec::with_capacity(128 + tx.input.as_ref().map_or(0, |i| i.len()));
            if encode_signed(tx, &mut bytes).is_none() {
                if self.knows_all_forms() {
                    return Err(self.lie(
                        "transaction type",
                        "types 0 to 4",
                        format!("{:?}", tx.kind),
                    ));
                }
                all.unmodelled = true;
                continue;
            }
            modelled.push(tx);
            all.bytes.push(bytes);
        }
        for (tx, hash) in modelled.into_iter().zip(keccak_all(&all.bytes)) {
            if is_system(tx) && !self.knows_all_forms() {
                all.system = true;
            } else if tx.hash != Some(hash) {
                return Err(self.lie("transaction hash", tx.hash.unwrap_or_default(), hash));
            }
        }
        Ok(all)
    }

    /// Polygon lists its state-sync transaction in the block but not in the root. Other chains keep
    /// system transactions in a root we cannot make; they are told apart by whether this one fits.
    fn without_system_transactions(&self, bytes: &[Vec<u8>], root: B256) -> Result<(), Lie> {
        let signed: Vec<_> =
            self.block.txs.iter().zip(bytes).filter(|(tx, _)| !is_system(tx)).collect();
        let computed =
            ordered_root(&signed.iter().map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>());
        if computed != root {
            tracing::debug!(
                block.number = self.block.number,
                "system transactions of an unknown form"
            );
        }
        Ok(())
    }
}

/// A transaction of a known type that nobody signed.
fn is_system(tx: &Tx) -> bool {
    tx.source_hash.is_none() && is_unsigned(tx)
}

fn covers_itself(tx: &Tx) -> bool {
    tx.hash.is_some() && tx.hash == hash_of(tx)
}
