//! Counts of wallets, made again from their rows. Both tables of rows are sorted by wallet, so one
//! wallet is in memory at a time.

use alloy_primitives::Address;

use super::ChainCheck;
use super::sum::Sum;
use crate::Error;
use crate::embedded::counts::{Buckets, Count, Delta, TOTAL};
use crate::embedded::engine::Table;
use crate::embedded::keys;

impl ChainCheck<'_> {
    pub fn wallets(&mut self) {
        let t = self.view.tables.clone();
        match self.expected_counts() {
            Ok(expected) => {
                let prefix = keys::chain(self.chain);
                // When a count last changed follows from the journal, not from the rows.
                let without_version = |value: &[u8]| {
                    let count = Count::unpack(value)?;
                    Some(Count { version: 0, ..count }.pack())
                };
                let table = (&t.wallet_counts, prefix.as_slice());
                self.compare("counts of wallets", table, expected, without_version);
            }
            Err(error) => {
                let mut part = self.part("counts of wallets");
                part.fault(error.to_string());
                self.parts.push(part);
            }
        }
    }

    fn expected_counts(&self) -> Result<Sum, Error> {
        let t = &self.view.tables;
        let mut direct = self.rows_of(&t.wallet_txs, true).peekable();
        let mut internal = self.rows_of(&t.wallet_internal, false).peekable();
        let mut sum = Sum::default();
        let mut wallet: Option<(Address, Buckets)> = None;
        loop {
            let next = match (direct.peek(), internal.peek()) {
                (None, None) => break,
                (Some(Ok(a)), Some(Ok(b))) if b.0 < a.0 => internal.next(),
                (None, _) | (_, Some(Err(_))) => internal.next(),
                _ => direct.next(),
            };
            let Some(row) = next else { break };
            let (address, number, delta) = row?;
            if wallet.as_ref().is_none_or(|(known, _)| *known != address)
                && let Some((known, buckets)) = wallet.replace((address, Buckets::default()))
            {
                self.add_counts(&mut sum, known, &buckets);
            }
            if let Some((_, buckets)) = &mut wallet {
                buckets.add(number, delta);
            }
        }
        if let Some((address, buckets)) = wallet {
            self.add_counts(&mut sum, address, &buckets);
        }
        Ok(sum)
    }

    fn rows_of<'a>(
        &'a self,
        table: &'a Table,
        is_direct: bool,
    ) -> impl Iterator<Item = Result<(Address, u64, Delta), Error>> + 'a {
        self.view.snapshot.prefix(table, keys::chain(self.chain)).map(move |item| {
            let key = item.key()?;
            let address = key.get(8..28).map(Address::from_slice);
            let place = keys::place_at_end(&key);
            let (address, (number, _)) =
                address.zip(place).ok_or(Error::Broken { what: "row of a wallet" })?;
            Ok((address, number, Delta::of(is_direct, 1)))
        })
    }

    fn add_counts(&self, sum: &mut Sum, address: Address, buckets: &Buckets) {
        let Some(total) = Count::default().changed_by(buckets.total()) else { return };
        sum.add(&keys::count(self.chain, address, TOTAL, 0), &total.pack());
        if !total.has_buckets() {
            return;
        }
        for (level, bucket, delta) in buckets.levels() {
            if let Some(count) = Count::default().changed_by(delta) {
                sum.add(&keys::count(self.chain, address, level, bucket), &count.pack());
            }
        }
    }
}
