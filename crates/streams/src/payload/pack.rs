//! Puts a webhook's items into as few bodies as the limit allows.

use bytes::Bytes;
use store::RecordCounts;

use super::head::PayloadHead;
use super::sheet::{Array, Piece, Sheet, Unit};
use crate::matching::Items;

/// At least one body, each with what it counts. A transaction's items stay together where they fit into one
/// body, a log and what was read from it likewise; an object that is larger than the limit has a body of its own.
pub fn write_parts(
    head: &PayloadHead<'_>,
    items: &Items,
    bytes_max: usize,
) -> Vec<(RecordCounts, Bytes)> {
    let mut opening = Vec::new();
    head.write(&mut opening);
    let sheet = Sheet::new(items);
    let room = bytes_max.saturating_sub(opening.len() + FRAME);
    let bodies = Packer::pack(&sheet, room);
    bodies.into_iter().map(|pieces| body(&opening, &sheet, pieces)).collect()
}

/// Bytes of the arrays' names and of all that stands around them, and of what edits may add.
const FRAME: usize = 256;

#[derive(Default)]
struct Packer<'a> {
    bodies: Vec<Vec<&'a Piece>>,
    current: Vec<&'a Piece>,
    used: usize,
    room: usize,
}

impl<'a> Packer<'a> {
    fn pack(sheet: &'a Sheet, room: usize) -> Vec<Vec<&'a Piece>> {
        let mut packer = Self { room, ..Self::default() };
        for of_tx in sheet.units.chunk_by(|one, next| one.tx_place == next.tx_place) {
            if packer.put(sheet, of_tx) {
                continue;
            }
            for unit in of_tx {
                if packer.put(sheet, std::slice::from_ref(unit)) {
                    continue;
                }
                for piece in pieces(sheet, unit) {
                    packer.put_piece(piece);
                }
            }
        }
        packer.close();
        packer.bodies
    }

    /// All of them into one body, this or the next. False where not even an empty one has room.
    fn put(&mut self, sheet: &'a Sheet, units: &[Unit]) -> bool {
        let all = units.iter().flat_map(|unit| pieces(sheet, unit));
        let bytes: usize = all.clone().map(size).sum();
        if bytes > self.room {
            return false;
        }
        if self.used + bytes > self.room {
            self.close();
        }
        self.used += bytes;
        self.current.extend(all);
        true
    }

    fn put_piece(&mut self, piece: &'a Piece) {
        if self.used + size(piece) > self.room && !self.current.is_empty() {
            self.close();
        }
        self.used += size(piece);
        self.current.push(piece);
    }

    /// A webhook without items is one empty body.
    fn close(&mut self) {
        if !self.current.is_empty() || self.bodies.is_empty() {
            self.bodies.push(std::mem::take(&mut self.current));
            self.used = 0;
        }
    }
}

fn pieces<'a>(sheet: &'a Sheet, unit: &Unit) -> std::slice::Iter<'a, Piece> {
    sheet.pieces.get(unit.pieces.clone()).unwrap_or_default().iter()
}

/// With its comma.
fn size(piece: &Piece) -> usize {
    piece.text.len() + 1
}

fn body(opening: &[u8], sheet: &Sheet, mut pieces: Vec<&Piece>) -> (RecordCounts, Bytes) {
    pieces.sort_by_key(|piece| (piece.array, piece.order));
    let of = |array: Array| {
        let start = pieces.partition_point(|piece| piece.array < array);
        let end = pieces.partition_point(|piece| piece.array <= array);
        pieces.get(start..end).unwrap_or_default()
    };
    let bytes: usize = pieces.iter().map(|piece| size(piece)).sum();
    let mut out = Vec::with_capacity(opening.len() + bytes + FRAME);
    out.extend_from_slice(opening);
    let mut put = |before: &str, array: Array| {
        out.extend_from_slice(before.as_bytes());
        out.push(b'[');
        for (place, piece) in of(array).iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(sheet.text.get(piece.text.clone()).unwrap_or_default());
        }
        out.push(b']');
    };
    put("\"logs\":", Array::Logs);
    put(",\"txs\":", Array::Txs);
    put(",\"txsInternal\":", Array::TxsInternal);
    put(",\"erc20Transfers\":", Array::Erc20Transfers);
    put(",\"erc20Approvals\":", Array::Erc20Approvals);
    put(",\"nftTokenApprovals\":", Array::NftTokenApprovals);
    put(",\"nftApprovals\":{\"ERC721\":", Array::Erc721Approvals);
    put(",\"ERC1155\":", Array::Erc1155Approvals);
    put("},\"nftTransfers\":", Array::NftTransfers);
    put(",\"nativeBalances\":", Array::NativeBalances);
    if !of(Array::NativeBalanceErrors).is_empty() {
        put(",\"nativeBalanceErrors\":", Array::NativeBalanceErrors);
    }
    out.push(b'}');
    let count = |array: Array| of(array).len() as u32;
    let counts = RecordCounts {
        txs: count(Array::Txs),
        logs: count(Array::Logs),
        internal_txs: count(Array::TxsInternal),
    };
    (counts, out.into())
}
