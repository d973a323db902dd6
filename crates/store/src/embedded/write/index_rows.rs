//! Rows of the indexes that follow from one block alone and that nothing is added up from.

use model::chain::ChainId;

use super::block_rows::PackedBlock;
use crate::embedded::engine::Table;
use crate::embedded::keys;
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
        for (word, groups) in &self.rows.log_words {
            give(BlockIndex::LogWords, &keys::log_word(chain, *word, number), groups);
        }
        if self.head.receipt_count < self.head.tx_count {
            give(BlockIndex::Receiptless, &keys::block(chain, number), &[]);
        }
    }
}
