//! Rows of the indexes that follow from one block alone and that nothing is added up from.

use model::chain::ChainId;

use super::block_rows::PackedBlock;
use crate::embedded::engine::Table;
use crate::embedded::keys;
use crate::embedded::runs::{RunBuilder, RunTable};
use crate::embedded::tables::Tables;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockIndex {
    TxByHash,
    LogWords,
    Receiptless,
}

impl BlockIndex {
    pub const ALL: [BlockIndex; 3] =
        [BlockIndex::TxByHash, BlockIndex::LogWords, BlockIndex::Receiptless];

    pub fn table(self, tables: &Tables) -> &Table {
        match self {
            BlockIndex::TxByHash => &tables.tx_by_hash,
            BlockIndex::LogWords => &tables.log_words,
            BlockIndex::Receiptless => &tables.receiptless,
        }
    }
}

impl PackedBlock {
    /// Adds all its rows of tables that may lie in runs.
    pub fn add_to_run(&self, chain: ChainId, tables: &Tables, run: &mut RunBuilder) {
        run.add_block(self.head.number);
        let mut add = |table: Option<RunTable>, key: &[u8], value: &[u8]| {
            let without_chain = key.get(size_of::<u64>()..).unwrap_or_default();
            if let Some(table) = table {
                run.add(table, without_chain, value);
            }
        };
        self.for_each_index_row(chain, |index, key, value| {
            add(index.table(tables).in_runs(), key, value);
        });
        for (address, index, direct) in self.rows.parties() {
            let table = if direct { &tables.wallet_txs } else { &tables.wallet_internal };
            let key = keys::wallet(chain, address, self.head.number, index);
            add(table.in_runs(), &key, &[]);
        }
    }

    /// Gives index, key and value of each row.
    pub fn for_each_index_row(
        &self,
        chain: ChainId,
        mut give: impl FnMut(BlockIndex, &[u8], &[u8]),
    ) {
        let number = self.head.number;
        for (index, hash) in &self.rows.tx_hashes {
            let key = keys::tx_by_hash(chain, *hash, number, *index);
            give(BlockIndex::TxByHash, &key, &[]);
        }
        for (word, groups) in self.rows.log_words.iter() {
            give(BlockIndex::LogWords, &keys::log_word(chain, word, number), groups);
        }
        if self.head.receipt_count < self.head.tx_count {
            give(BlockIndex::Receiptless, &keys::block(chain, number), &[]);
        }
    }
}
