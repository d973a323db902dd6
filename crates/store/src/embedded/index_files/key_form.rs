//! How keys of the indexes are put together: what a row is of, its block, and its place in it.

use std::cmp::Ordering;

use crate::embedded::keys;
use crate::embedded::runs::RunTable;

/// A key without its chain, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyParts<'a> {
    /// A wallet, the beginning of a hash, or a word of logs.
    pub head: &'a [u8],
    pub number: u64,
    /// In the block; of words of logs there is none.
    pub index: u32,
}

/// Of the longest.
pub const HEAD_BYTES_MAX: usize = 20;

pub const fn head_bytes(table: RunTable) -> usize {
    match table {
        RunTable::WalletTxs | RunTable::WalletInternal => 20,
        RunTable::TxByHash => 8,
        RunTable::LogWords => 6,
    }
}

pub const fn is_newest_first(table: RunTable) -> bool {
    matches!(table, RunTable::WalletTxs | RunTable::WalletInternal)
}

/// Rows of the others are keys alone.
pub const fn has_values(table: RunTable) -> bool {
    matches!(table, RunTable::LogWords)
}

pub const fn has_index(table: RunTable) -> bool {
    !matches!(table, RunTable::LogWords)
}

/// None for a key that is none of this table.
pub fn take_apart(table: RunTable, key: &[u8]) -> Option<KeyParts<'_>> {
    let (head, rest) = key.split_at_checked(head_bytes(table))?;
    let (number, index) = match table {
        RunTable::LogWords => (keys::short_number(rest)?, 0),
        _ if rest.len() != 12 => return None,
        RunTable::TxByHash => keys::place_of_tx(rest)?,
        RunTable::WalletTxs | RunTable::WalletInternal => keys::place_at_end(rest)?,
    };
    Some(KeyParts { head, number, index })
}

pub fn put_together(table: RunTable, parts: KeyParts<'_>, out: &mut Vec<u8>) {
    let KeyParts { head, number, index } = parts;
    out.extend_from_slice(head);
    match table {
        RunTable::LogWords => keys::put_short_number(out, number),
        RunTable::TxByHash => {
            out.extend_from_slice(&number.to_be_bytes());
            out.extend_from_slice(&index.to_be_bytes());
        }
        RunTable::WalletTxs | RunTable::WalletInternal => {
            out.extend_from_slice(&(!number).to_be_bytes());
            out.extend_from_slice(&(!index).to_be_bytes());
        }
    }
}

/// As their bytes compare.
pub fn compare(table: RunTable, a: &KeyParts<'_>, b: &KeyParts<'_>) -> Ordering {
    let places = (a.number, a.index).cmp(&(b.number, b.index));
    let places = if is_newest_first(table) { places.reverse() } else { places };
    a.head.cmp(b.head).then(places)
}

/// The lowest and the highest block that rows between two keys can be of; none where that is not told by them. An end
/// that is cut off after its head is that of all its rows.
pub fn blocks_between(table: RunTable, low: &[u8], high: &[u8]) -> Option<(u64, u64)> {
    let (low, high) = (take_apart(table, low)?, take_apart(table, high)?);
    let is_one = low.head == high.head;
    let (a, b) = if is_newest_first(table) { (high, low) } else { (low, high) };
    is_one.then_some((a.number, b.number))
}

#[cfg(test)]
mod tests {
    use model::chain::ChainId;
    use proptest::prelude::*;

    use super::*;

    fn parts(head: &[u8; 20], table: RunTable, (number, index): (u64, u32)) -> KeyParts<'_> {
        let index = if has_index(table) { index } else { 0 };
        KeyParts { head: &head[..head_bytes(table)], number, index }
    }

    proptest! {
        #[test]
        fn keys_compare_as_their_bytes(
            heads in (any::<[u8; 20]>(), any::<[u8; 20]>(), any::<bool>()),
            places in ((0u64..600, 0u32..3), (0u64..600, 0u32..3)),
        ) {
            let second = if heads.2 { heads.0 } else { heads.1 };
            for table in RunTable::ALL {
                let (a, b) = (parts(&heads.0, table, places.0), parts(&second, table, places.1));
                let bytes = |parts| {
                    let mut key = Vec::new();
                    put_together(table, parts, &mut key);
                    key
                };
                prop_assert_eq!(compare(table, &a, &b), bytes(a).cmp(&bytes(b)));
            }
        }

        #[test]
        fn keys_come_back(head in any::<[u8; 20]>(), number in any::<u64>(), shift in 0..64u32, index in any::<u32>()) {
            let number = number >> shift;
            let chain = ChainId(5);
            let of = |key: &[u8]| key[8..].to_vec();
            let word = [head[0], head[1], head[2], head[3], head[4], head[5]];
            let start = [head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]];
            for (table, key) in [
                (RunTable::WalletTxs, of(&keys::wallet(chain, head.into(), number, index))),
                (RunTable::WalletInternal, of(&keys::wallet(chain, head.into(), number, index))),
                (RunTable::TxByHash, of(&keys::tx_by_hash(chain, start, number, index))),
                (RunTable::LogWords, of(&keys::log_word(chain, word, number))),
            ] {
                let parts = take_apart(table, &key).unwrap();
                prop_assert_eq!(parts.number, number);
                prop_assert_eq!(parts.index, if has_index(table) { index } else { 0 });
                let mut again = Vec::new();
                put_together(table, parts, &mut again);
                prop_assert_eq!(&again, &key);
                prop_assert_eq!(take_apart(table, &key[..key.len() - 1]), None);
                prop_assert_eq!(blocks_between(table, &key, &key), Some((number, number)));
            }
        }
    }
}
