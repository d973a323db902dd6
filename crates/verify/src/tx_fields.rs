//! What a transaction says beside what its hash covers: its place, its chain, the price it paid, and fields
//! that belong to other types.

use alloy_primitives::U256;
use model::raw::Tx;
use model::raw::tx_rlp::{DEPOSIT, is_deposit, y_parity};

use super::blank::Blank;
use super::checks::{Checks, Lie};
use super::sender::is_unsigned;

/// From here on `v` of a legacy signature holds the chain (EIP-155).
const V_WITH_CHAIN: u64 = 35;

impl Checks<'_> {
    /// True when every transaction says of itself what the block and its own bytes say.
    pub(super) fn transaction_fields(&self) -> Result<bool, Lie> {
        let mut hold = true;
        for (i, tx) in self.block.txs.iter().enumerate() {
            self.place(i, tx)?;
            self.chain_of(tx)?;
            hold &= self.readable(tx)? && self.own_fields(tx)? && self.foreign_fields(tx)?;
        }
        Ok(hold)
    }

    /// Where a transaction says it stands must be where it stands.
    fn place(&self, i: usize, tx: &Tx) -> Result<(), Lie> {
        let block = self.block;
        let agrees = tx.block_hash.is_none_or(|h| h == block.hash)
            && tx.block_number.is_none_or(|n| n == block.number)
            && tx.transaction_index.is_none_or(|n| n == i as u64)
            && tx.block_timestamp.is_none_or(|t| t == block.timestamp);
        // Null means that it is in no block yet.
        let is_pending =
            ["blockHash", "blockNumber", "transactionIndex"].into_iter().any(|f| tx.is_null(f));
        if agrees && !is_pending {
            return Ok(());
        }
        let expected = format!("transaction {i} of block {}", block.hash);
        let got = format!(
            "transaction {:?} of block {:?} number {:?} time {:?}",
            tx.transaction_index, tx.block_hash, tx.block_number, tx.block_timestamp
        );
        Err(self.lie("transaction place", expected, got))
    }

    /// Whoever signed for another chain did not send it here.
    fn chain_of(&self, tx: &Tx) -> Result<(), Lie> {
        if is_unsigned(tx) && !self.knows_all_forms() {
            return Ok(());
        }
        let own = U256::from(self.rules.chain_id);
        let signed_for = match (tx.kind.unwrap_or(0), tx.v) {
            (0, Some(v)) if v >= U256::from(V_WITH_CHAIN) => {
                Some((v - U256::from(V_WITH_CHAIN)) / U256::from(2))
            }
            (1..=4, _) => tx.chain_id.map(U256::from),
            _ => None,
        };
        match signed_for {
            Some(other) if other != own => Err(self.lie("chain id", own, other)),
            _ => Ok(()),
        }
    }

    fn readable(&self, tx: &Tx) -> Result<bool, Lie> {
        let items = tx.access_list.iter().flatten().find_map(|item| item.unreadable());
        let given = tx.authorization_list.iter().flatten().find_map(|item| item.unreadable());
        match tx.unreadable().or(items).or(given) {
            Some(field) => self.unreadable("a transaction", field),
            None => Ok(true),
        }
    }

    /// What follows from the fields that its hash covers.
    fn own_fields(&self, tx: &Tx) -> Result<bool, Lie> {
        let hash = tx.hash.unwrap_or_default();
        let parity = y_parity(tx).map(u64::from);
        let told = |field: &'static str, value: u64| {
            self.contradiction("transaction field", format!("{field} of {hash} as signed"), value)
        };
        match tx.kind.unwrap_or(0) {
            0 => {
                let named = tx.v.filter(|v| *v >= U256::from(V_WITH_CHAIN));
                let own = Some(self.rules.chain_id);
                // What names no chain is valid on any, this one among them.
                if let Some(chain) = tx.chain_id
                    && tx.chain_id != own
                    && (named.is_some() || !chain.is_blank())
                {
                    return told("chainId", chain);
                }
                match tx.y_parity {
                    Some(value) if !value.is_blank() && Some(value) != parity => {
                        told("yParity", value)
                    }
                    _ => Ok(true),
                }
            }
            1..=4 => {
                let v = tx.v.map(|v| u64::try_from(v).unwrap_or(u64::MAX));
                match [tx.y_parity, v].into_iter().flatten().find(|v| Some(*v) != parity || *v > 1)
                {
                    Some(value) => told("v or yParity", value),
                    None => self.price_paid(tx),
                }
            }
            _ => Ok(true),
        }
    }

    /// Chains with rules of their own price gas in their own ways.
    fn price_paid(&self, tx: &Tx) -> Result<bool, Lie> {
        match (tx.gas_price, self.price(tx)) {
            (Some(got), Some(expected)) if got != expected && self.is_strict() => {
                Err(self.lie("transaction gas price", expected, got))
            }
            _ => Ok(true),
        }
    }

    /// What a unit of gas cost the sender.
    pub(super) fn price(&self, tx: &Tx) -> Option<U256> {
        match tx.kind.unwrap_or(0) {
            0 | 1 => tx.gas_price,
            DEPOSIT => Some(U256::ZERO),
            _ => {
                let base = self.block.header.base_fee_per_gas?;
                let offered = base.checked_add(tx.max_priority_fee_per_gas?)?;
                Some(offered.min(tx.max_fee_per_gas?))
            }
        }
    }

    /// Fields that its type does not have say nothing.
    fn foreign_fields(&self, tx: &Tx) -> Result<bool, Lie> {
        let kind = tx.kind.unwrap_or(0);
        if kind > 4 && !is_deposit(tx) {
            return Ok(true);
        }
        let is = |kinds: &[u64]| kinds.contains(&kind);
        let fields: [(&str, bool, bool); 11] = [
            ("maxFeePerGas", is(&[2, 3, 4]), tx.max_fee_per_gas.is_blank()),
            ("maxPriorityFeePerGas", is(&[2, 3, 4]), tx.max_priority_fee_per_gas.is_blank()),
            ("accessList", is(&[1, 2, 3, 4]), tx.access_list.is_blank()),
            ("maxFeePerBlobGas", is(&[3]), tx.max_fee_per_blob_gas.is_blank()),
            ("blobVersionedHashes", is(&[3]), tx.blob_versioned_hashes.is_blank()),
            ("authorizationList", is(&[4]), tx.authorization_list.is_blank()),
            ("sourceHash", is(&[DEPOSIT]), tx.source_hash.is_blank()),
            ("mint", is(&[DEPOSIT]), tx.mint.is_blank()),
            ("isSystemTx", is(&[DEPOSIT]), tx.is_system_tx.is_blank()),
            ("gasPrice", !is(&[DEPOSIT]), tx.gas_price.is_blank()),
            ("signature", !is(&[DEPOSIT]), is_without_signature(tx)),
        ];
        for (field, belongs, is_blank) in fields {
            if !belongs && !is_blank {
                let expected = format!("no {field} in a transaction of type {kind}");
                return self.contradiction("field of another type", expected, field);
            }
        }
        Ok(true)
    }
}

fn is_without_signature(tx: &Tx) -> bool {
    let words = [tx.v, tx.r, tx.s];
    words.iter().all(Blank::is_blank) && tx.y_parity.is_blank() && tx.chain_id.is_blank()
}
