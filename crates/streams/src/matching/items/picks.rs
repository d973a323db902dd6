//! What was picked of a block for one stream, and the items made of it.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::raw::Block;

use super::{InternalItem, Items, LogItem, TxItem};
use crate::definition::Compiled;
use crate::matching::SpamList;

/// Places in the block, rising, each with the watched addresses that brought it in.
#[derive(Debug, Default)]
pub(in crate::matching) struct Picks {
    pub txs: Vec<(usize, Vec<Address>)>,
    pub logs: Vec<LogPick>,
    pub internals: Vec<InternalPick>,
}

#[derive(Debug)]
pub(in crate::matching) struct LogPick {
    pub tx: usize,
    /// Place within the transaction.
    pub log: usize,
    pub triggered_by: Vec<Address>,
}

#[derive(Debug)]
pub(in crate::matching) struct InternalPick {
    pub tx: usize,
    /// Place within the transaction's trace.
    pub frame: usize,
    pub triggered_by: Vec<Address>,
}

impl Picks {
    pub fn is_empty(&self) -> bool {
        self.txs.is_empty() && self.logs.is_empty() && self.internals.is_empty()
    }
}

/// What the items of a block are made from.
pub(in crate::matching) struct BlockContext<'a> {
    pub chain: ChainId,
    pub block: &'a Block,
    pub spam: &'a SpamList,
    /// Of each transaction, how many logs are before it in the block.
    pub logs_before: &'a [u64],
}

impl BlockContext<'_> {
    pub fn items(&self, picks: Picks, compiled: &Compiled) -> Items {
        let mut items = Items { chain: self.chain, ..Items::default() };
        items.txs = picks.txs.into_iter().filter_map(|pick| self.tx(pick)).collect();
        items.logs = picks.logs.into_iter().filter_map(|pick| self.log(pick)).collect();
        items.internals =
            picks.internals.into_iter().filter_map(|pick| self.internal(pick)).collect();
        let logs = std::mem::take(&mut items.logs);
        for (place, log) in logs.iter().enumerate() {
            items.derive(place, log);
        }
        items.logs = logs;
        items.find_balances(compiled);
        items
    }

    fn tx(&self, (place, triggered_by): (usize, Vec<Address>)) -> Option<TxItem> {
        let receipt = self.block.receipts.get(place).and_then(Option::as_ref);
        Some(TxItem::new(place, self.block.txs.get(place)?, receipt, triggered_by))
    }

    fn log(&self, pick: LogPick) -> Option<LogItem> {
        let receipt = self.block.receipts.get(pick.tx)?.as_ref()?;
        let log = receipt.logs.as_deref()?.get(pick.log)?;
        let before = self.logs_before.get(pick.tx).copied().unwrap_or_default();
        let item = LogItem::new(log, before + pick.log as u64);
        Some(LogItem {
            tx_place: pick.tx,
            transaction_hash: self.block.txs.get(pick.tx)?.hash.unwrap_or_default(),
            possible_spam: self.spam.contains(self.chain, item.address),
            triggered_by: pick.triggered_by,
            ..item
        })
    }

    fn internal(&self, pick: InternalPick) -> Option<InternalItem> {
        let frame = self.block.traces.as_deref()?.get(pick.tx)?.get(pick.frame)?;
        Some(InternalItem {
            tx_place: pick.tx,
            transaction_hash: self.block.txs.get(pick.tx)?.hash.unwrap_or_default(),
            triggered_by: pick.triggered_by,
            ..InternalItem::new(frame)
        })
    }
}
