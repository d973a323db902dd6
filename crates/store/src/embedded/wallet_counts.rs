//! The counts of all wallets, made from their rows, in the order of the keys they have or would have. Both tables of
//! rows are sorted by wallet, so one wallet is in memory at a time.

use alloy_primitives::Address;
use model::chain::ChainId;

use super::counts::{Buckets, Count, Delta, TOTAL};
use super::engine::Item;
use super::keys;
use super::read::View;
use crate::Error;

const BROKEN: Error = Error::Broken { what: "row of a wallet" };

type WalletRow = (ChainId, Address, u64, Delta);
type KeyAndCount = (Vec<u8>, Count);

impl View {
    /// Of wallets whose keys begin so.
    pub fn all_wallet_counts<'a>(
        &'a self,
        prefix: &[u8],
    ) -> impl Iterator<Item = Result<KeyAndCount, Error>> + 'a {
        let t = &self.tables;
        let rows = |table| self.snapshot.prefix(table, prefix);
        counts_of_rows(rows(&t.wallet_txs), rows(&t.wallet_internal))
    }

    /// The same of rows that are in tables, which is what is counted there.
    pub fn wallet_counts_in_tables<'a>(
        &'a self,
        prefix: &[u8],
    ) -> impl Iterator<Item = Result<KeyAndCount, Error>> + 'a {
        let t = &self.tables;
        let rows = |table| self.snapshot.prefix_in_table(table, prefix);
        counts_of_rows(rows(&t.wallet_txs), rows(&t.wallet_internal))
    }
}

/// Both are sorted by key.
fn counts_of_rows(
    direct: impl Iterator<Item = Item>,
    internal: impl Iterator<Item = Item>,
) -> impl Iterator<Item = Result<KeyAndCount, Error>> {
    let mut direct = wallet_rows(direct, true).peekable();
    let mut internal = wallet_rows(internal, false).peekable();
    let mut rows = std::iter::from_fn(move || match (direct.peek(), internal.peek()) {
        (Some(Ok(a)), Some(Ok(b))) if (b.0, b.1) < (a.0, a.1) => internal.next(),
        (None, _) | (_, Some(Err(_))) => internal.next(),
        _ => direct.next(),
    })
    .peekable();
    let wallet = move || -> Option<Result<Vec<KeyAndCount>, Error>> {
        let (chain, address, number, delta) = match rows.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        let mut buckets = Buckets::default();
        buckets.add(number, delta);
        let is_same = |row: &Result<WalletRow, Error>| {
            row.as_ref().is_ok_and(|row| (row.0, row.1) == (chain, address))
        };
        while let Some(Ok((_, _, number, delta))) = rows.next_if(is_same) {
            buckets.add(number, delta);
        }
        Some(counts_of(chain, address, &buckets))
    };
    std::iter::from_fn(wallet).flat_map(|counts| match counts {
        Ok(counts) => counts.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

fn wallet_rows(
    rows: impl Iterator<Item = Item>,
    is_direct: bool,
) -> impl Iterator<Item = Result<WalletRow, Error>> {
    rows.map(move |item| {
        let key = item.key()?;
        let (chain, rest) = key.split_first_chunk::<8>().ok_or(BROKEN)?;
        let address = rest.first_chunk::<20>().ok_or(BROKEN)?;
        let (number, _) = keys::place_at_end(rest).ok_or(BROKEN)?;
        let chain = ChainId(u64::from_be_bytes(*chain));
        Ok((chain, Address::from(*address), number, Delta::of(is_direct, 1)))
    })
}

pub fn counts_of(
    chain: ChainId,
    address: Address,
    buckets: &Buckets,
) -> Result<Vec<KeyAndCount>, Error> {
    let count = |delta| Count::default().changed_by(delta).ok_or(BROKEN);
    let total = count(buckets.total())?;
    let mut counts = vec![(keys::count(chain, address, TOTAL, 0).to_vec(), total)];
    if total.is_many() {
        for (level, bucket, delta) in buckets.levels() {
            counts.push((keys::count(chain, address, level, bucket).to_vec(), count(delta)?));
        }
    }
    counts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(counts)
}
