//! Brings the counts of the wallets that a commit touches up to date.

use alloy_primitives::Address;

use super::batch::{Batch, WalletRow};
use crate::Error;
use crate::embedded::counts::{Buckets, Count, Delta, MANY_AT_ONCE, ONE_BLOCK, TOTAL};
use crate::embedded::engine::Snapshot;
use crate::embedded::keys;

const BROKEN: Error = Error::Broken { what: "count of a wallet" };

impl Batch<'_> {
    /// `rows` are all of one wallet.
    pub(super) fn write_counts(&mut self, rows: &[WalletRow]) -> Result<(), Error> {
        let Some(address) = rows.first().map(|row| row.address) else { return Ok(()) };
        let changes = || {
            let mut changes = Buckets::default();
            for row in rows {
                changes.add(row.number(), Delta::of(row.direct, i64::from(row.sign)));
            }
            changes
        };
        if let Some(total) = self.total_of(address)? {
            return self.change_counts(address, total, &changes());
        }
        if rows.len() >= MANY_AT_ONCE && !self.removes {
            return self.begin_to_count(address, changes());
        }
        Ok(())
    }

    /// None where the wallet is not counted.
    fn total_of(&self, address: Address) -> Result<Option<Count>, Error> {
        let row = self.tables.wallet_counts.get(keys::count(self.chain, address, TOTAL, 0))?;
        row.map(|row| Count::unpack(&row).ok_or(BROKEN)).transpose()
    }

    /// Of a wallet that is counted, and had this total.
    fn change_counts(
        &mut self,
        address: Address,
        total: Count,
        changes: &Buckets,
    ) -> Result<(), Error> {
        let new = total.changed_by(changes.total()).ok_or(BROKEN)?;
        if !new.is_many() {
            return self.drop_counts(address);
        }
        self.put_count(&keys::count(self.chain, address, TOTAL, 0), new);
        for (level, bucket, delta) in changes.levels() {
            let key = keys::count(self.chain, address, level, bucket);
            // A block comes with all its rows, so nothing is counted of one that is new.
            let old = if level == ONE_BLOCK && !self.removes {
                Count::default()
            } else {
                self.count_at(&key)?
            };
            self.put_count(&key, old.changed_by(delta).ok_or(BROKEN)?);
        }
        Ok(())
    }

    /// If it has enough rows by now: those in its tables, and those that this batch adds to them.
    fn begin_to_count(&mut self, address: Address, added: Buckets) -> Result<(), Error> {
        let mut all = self.stored_rows(address)?;
        all.extend(added);
        let total = Count::default().changed_by(all.total()).ok_or(BROKEN)?;
        if total.is_many() {
            self.put_count(&keys::count(self.chain, address, TOTAL, 0), total);
            for (level, bucket, delta) in all.levels() {
                let count = Count::default().changed_by(delta).ok_or(BROKEN)?;
                self.put_count(&keys::count(self.chain, address, level, bucket), count);
            }
        }
        Ok(())
    }

    fn count_at(&self, key: &[u8]) -> Result<Count, Error> {
        match self.tables.wallet_counts.get(key)? {
            Some(row) => Count::unpack(&row).ok_or(BROKEN),
            None => Ok(Count::default()),
        }
    }

    fn put_count(&mut self, key: &[u8], count: Count) {
        let table = self.tables.wallet_counts.clone();
        if count.is_zero() {
            self.drop_key(&table, key);
        } else {
            self.put(&table, key, count.pack());
        }
    }

    /// In its tables alone.
    fn stored_rows(&self, address: Address) -> Result<Buckets, Error> {
        let (snapshot, t) = (Snapshot::of(&self.open.db), &self.tables);
        let mut rows = Buckets::default();
        for (table, direct) in [(&t.wallet_txs, true), (&t.wallet_internal, false)] {
            for item in snapshot.prefix(table, keys::of_wallet(self.chain, address)) {
                let (number, _) = keys::place_at_end(&item.key()?)
                    .ok_or(Error::Broken { what: "row of a wallet" })?;
                rows.add(number, Delta::of(direct, 1));
            }
        }
        Ok(rows)
    }

    fn drop_counts(&mut self, address: Address) -> Result<(), Error> {
        let (snapshot, table) = (Snapshot::of(&self.open.db), self.tables.wallet_counts.clone());
        for item in snapshot.prefix(&table, keys::of_wallet(self.chain, address)) {
            self.drop_key(&table, item.key()?);
        }
        Ok(())
    }
}
