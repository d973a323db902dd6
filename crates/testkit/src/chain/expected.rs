//! The answers an indexer must give for this chain, from what the scenarios meant to do.
//!
//! Nothing here reads rendered JSON or traces, so an error in either shows as a difference.

use super::{Sale, SimBlock, SimChain};
use alloy_primitives::{Address, B256, map::HashMap};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalletRow {
    pub block_number: u64,
    pub tx_index: usize,
    pub hash: B256,
}

/// A wallet's transactions, newest first. No transaction is in both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedWallet {
    /// It is sender or receiver, or the contract that a successful transaction created.
    pub direct: Vec<WalletRow>,
    /// It received or sent coins in a frame below the root that stands, and is not in `direct`.
    pub internal_only: Vec<WalletRow>,
}

impl ExpectedWallet {
    /// Both lists as one, newest first: the answer with internal transactions included.
    pub fn all(&self) -> Vec<WalletRow> {
        let mut rows: Vec<_> = self.direct.iter().chain(&self.internal_only).copied().collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.block_number, row.tx_index)));
        rows
    }
}

/// A sale and the transaction that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedSale {
    pub at: WalletRow,
    pub sale: Sale,
}

impl SimChain {
    /// Every sale on the canonical chain, newest first.
    pub fn expected_sales(&self) -> Vec<ExpectedSale> {
        let sale = |(at, block): (WalletRow, &SimBlock)| {
            let sale = block.txs.get(at.tx_index)?.sale.clone()?;
            Some(ExpectedSale { at, sale })
        };
        self.rows_newest_first().filter_map(sale).collect()
    }

    /// What is expected of one address on the canonical chain. Walks all blocks.
    pub fn expected_wallet(&self, address: Address) -> ExpectedWallet {
        let mut wallet = ExpectedWallet::default();
        for (row, block) in self.rows_newest_first() {
            let Some(tx) = block.txs.get(row.tx_index) else { continue };
            if tx.is_direct_for(address) {
                wallet.direct.push(row);
            } else if tx.moves_inside_for(address) {
                wallet.internal_only.push(row);
            }
        }
        wallet
    }

    /// What is expected of every address that has a row at all, in one walk.
    pub fn expected_wallets(&self) -> HashMap<Address, ExpectedWallet> {
        let mut wallets: HashMap<Address, ExpectedWallet> = HashMap::default();
        for (row, block) in self.rows_newest_first() {
            let Some(tx) = block.txs.get(row.tx_index) else { continue };
            let mut direct = vec![tx.from];
            direct.extend(tx.to().or(tx.created()));
            direct.sort_unstable();
            direct.dedup();
            for address in &direct {
                wallets.entry(*address).or_default().direct.push(row);
            }
            let inside = tx.inner_moves.iter().filter(|m| m.value > 0);
            let mut inner: Vec<_> = inside.flat_map(|m| [m.from, m.to]).collect();
            inner.sort_unstable();
            inner.dedup();
            inner.retain(|address| !direct.contains(address));
            for address in inner {
                wallets.entry(address).or_default().internal_only.push(row);
            }
        }
        wallets
    }

    fn rows_newest_first(&self) -> impl Iterator<Item = (WalletRow, &SimBlock)> {
        self.blocks.iter().rev().flat_map(|block| {
            let row = |(tx_index, tx): (usize, &super::SimTx)| WalletRow {
                block_number: block.number(),
                tx_index,
                hash: tx.hash,
            };
            let block: &SimBlock = block;
            block.txs.iter().enumerate().rev().map(row).map(move |row| (row, block))
        })
    }
}
