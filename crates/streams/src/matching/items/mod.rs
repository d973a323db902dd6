//! The items of one webhook: everything its arrays hold, typed, in the order of the block.

mod decoded;
mod derive;
mod field_value;
mod internal_item;
mod log_item;
mod needs;
mod picks;
mod token_events;
mod tokens;
mod trigger_results;
mod tx_item;

pub use field_value::{FieldValue, Item};
pub use internal_item::InternalItem;
pub use log_item::LogItem;
pub use needs::{BalanceItem, BalanceNeed, Needs, TriggerNeed, TriggerPlace};
pub(super) use picks::{BlockContext, InternalPick, LogPick, Picks};
pub use token_events::{
    Erc20Approval, Erc20Transfer, LogOrigin, NftApproval, NftStandard, NftTransfer,
};
pub use tokens::Tokens;
pub use trigger_results::TriggerResults;
pub use tx_item::{TxItem, TxReceipt};

use model::chain::ChainId;

#[derive(Clone, Debug, Default)]
pub struct Items {
    pub chain: ChainId,
    pub txs: Vec<TxItem>,
    pub logs: Vec<LogItem>,
    pub internals: Vec<InternalItem>,
    pub erc20_transfers: Vec<Erc20Transfer>,
    pub erc20_approvals: Vec<Erc20Approval>,
    pub nft_transfers: Vec<NftTransfer>,
    pub nft_approvals: Vec<NftApproval>,
    pub balances: Vec<BalanceItem>,
    pub tokens: Tokens,
}

impl Items {
    pub fn is_empty(&self) -> bool {
        self.txs.is_empty() && self.logs.is_empty() && self.internals.is_empty()
    }
}
