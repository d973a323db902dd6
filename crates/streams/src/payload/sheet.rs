//! All items of a webhook written once, in pieces that can be put into one body or several.

use std::ops::Range;

use super::item_json::{put_balance, put_item, put_triggered};
use crate::matching::items::{Item, Items, LogOrigin, NftApproval, NftStandard, TriggerResults};

/// The arrays of a body, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Array {
    Logs,
    Txs,
    TxsInternal,
    Erc20Transfers,
    Erc20Approvals,
    NftTokenApprovals,
    Erc721Approvals,
    Erc1155Approvals,
    NftTransfers,
    NativeBalances,
    /// Balances that are not known. The official clients take no balance that is not a number, and zero would
    /// be a lie, so these stand apart; the key is there only where it is needed.
    NativeBalanceErrors,
}

/// One object.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub array: Array,
    pub text: Range<usize>,
    /// Where it stands in its array.
    pub order: usize,
}

/// Pieces that belong together: a log and what was read from it, or a single object.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub tx_place: usize,
    pub pieces: Range<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub text: Vec<u8>,
    pub pieces: Vec<Piece>,
    /// By transaction: itself, its logs, its internal transactions, balances.
    pub units: Vec<Unit>,
}

impl Sheet {
    pub fn new(items: &Items) -> Self {
        let mut sheet = Self::default();
        for tx in &items.txs {
            sheet.unit(tx.place, |sheet| sheet.triggered(Array::Txs, tx, &tx.triggers, items));
        }
        sheet.logs(items);
        for frame in &items.internals {
            let array = Array::TxsInternal;
            sheet.unit(frame.tx_place, |it| it.triggered(array, frame, &frame.triggers, items));
        }
        for (order, balance) in items.balances.iter().enumerate() {
            sheet.unit(balance.tx_place, |sheet| {
                let start = sheet.text.len();
                let is_known = put_balance(&mut sheet.text, balance);
                let errors = Array::NativeBalanceErrors;
                let array = if is_known { Array::NativeBalances } else { errors };
                sheet.pieces.push(Piece { array, text: start..sheet.text.len(), order });
            });
        }
        // Stable, so that within a transaction the order stays.
        sheet.units.sort_by_key(|unit| unit.tx_place);
        sheet
    }

    fn logs(&mut self, items: &Items) {
        let mut transfers = items.erc20_transfers.iter().peekable();
        let mut approvals = items.erc20_approvals.iter().peekable();
        let mut nft_transfers = items.nft_transfers.iter().peekable();
        let mut nft_approvals = items.nft_approvals.iter().peekable();
        for (place, log) in items.logs.iter().enumerate() {
            let is_of = |origin: &LogOrigin| origin.log == place;
            self.unit(log.tx_place, |sheet| {
                sheet.triggered(Array::Logs, log, &log.triggers, items);
                while let Some(it) = transfers.next_if(|it| is_of(&it.origin)) {
                    sheet.triggered(Array::Erc20Transfers, it, &it.triggers, items);
                }
                while let Some(it) = approvals.next_if(|it| is_of(&it.origin)) {
                    sheet.triggered(Array::Erc20Approvals, it, &it.triggers, items);
                }
                while let Some(it) = nft_transfers.next_if(|it| is_of(&it.origin)) {
                    sheet.triggered(Array::NftTransfers, it, &it.triggers, items);
                }
                while let Some(it) = nft_approvals.next_if(|it| is_of(&it.origin)) {
                    sheet.nft_approval(it, items);
                }
            });
        }
    }

    fn unit(&mut self, tx_place: usize, write: impl FnOnce(&mut Self)) {
        let start = self.pieces.len();
        write(self);
        self.units.push(Unit { tx_place, pieces: start..self.pieces.len() });
    }

    fn nft_approval(&mut self, approval: &NftApproval, items: &Items) {
        self.piece(Array::NftTokenApprovals, |out| {
            put_item(out, approval, NftApproval::KEYS, &items.tokens);
        });
        let (array, keys) = match approval.standard() {
            NftStandard::Erc721 => (Array::Erc721Approvals, NftApproval::KEYS_ERC721),
            NftStandard::Erc1155 => (Array::Erc1155Approvals, NftApproval::KEYS_ERC1155),
        };
        self.piece(array, |out| put_item(out, approval, keys, &items.tokens));
    }

    fn triggered<T: Item>(
        &mut self,
        array: Array,
        item: &T,
        triggers: &TriggerResults,
        items: &Items,
    ) {
        self.piece(array, |out| put_triggered(out, item, triggers, &items.tokens));
    }

    fn piece(&mut self, array: Array, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        let text = start..self.text.len();
        self.pieces.push(Piece { array, text, order: self.pieces.len() });
    }
}
