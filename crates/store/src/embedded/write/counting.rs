//! Brings the counts of the wallets that a commit touches up to date.

use alloy_primitives::Address;

use super::batch::{Batch, WalletRow};
use crate::Error;
use crate::embedded::counts::{Buckets, Count, Delta, ONE_BLOCK, TOTAL};
use crate::embedded::keys;

const BROKEN: Error = Error::Broken { what: "count of a wallet" };

impl Batch<'_> {
    /// `rows` are all of one wallet.
    pub(super) fn write_counts(&mut self, rows: &[WalletRow]) -> Result<(), Error> {
        let Some(address) = rows.first().map(|row| row.address) else { return Ok(()) };
        let mut changes = Buckets::default();
        for row in rows {
            changes.add(row.number(), Delta::of(row.direct, i64::from(row.sign)));
        }
        let key = keys::count(self.chain, address, TOTAL, 0);
        let old = self.count_at(&key)?;
        let mut new = old.changed_by(changes.total()).ok_or(BROKEN)?;
        new.version = self.seq;
        self.put_count(&key, new);
        match (old.has_buckets(), new.has_buckets()) {
            (false, false) => Ok(()),
            (true, true) => self.change_buckets(address, &changes),
            (false, true) => {
                // What is stored is few rows, and counted in no bucket yet.
                let mut all = self.stored_rows(address)?;
                all.extend(changes);
                self.change_buckets(address, &all)
            }
            (true, false) => self.drop_buckets(address),
        }
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

    fn change_buckets(&mut self, address: Address, changes: &Buckets) -> Result<(), Error> {
        for (level, bucket, delta) in changes.levels() {
            let key = keys::count(self.chain, address, level, bucket);
            // A block comes with all its rows, so nothing is counted of one that is new.
            let old = if level == ONE_BLOCK && !self.removes {
                Count::default()
            } else {
                self.count_at(&key)?
            };
            let new = old.changed_by(delta).ok_or(BROKEN)?;
            self.put_count(&key, new);
        }
        Ok(())
    }

    fn stored_rows(&self, address: Address) -> Result<Buckets, Error> {
        let view = self.store.view()?;
        let mut rows = Buckets::default();
        for (table, direct) in
            [(&view.tables.wallet_txs, true), (&view.tables.wallet_internal, false)]
        {
            for item in view.snapshot.prefix(table, keys::of_wallet(self.chain, address)) {
                let (number, _) = keys::place_at_end(&item.key()?)
                    .ok_or(Error::Broken { what: "row of a wallet" })?;
                rows.add(number, Delta::of(direct, 1));
            }
        }
        Ok(rows)
    }

    fn drop_buckets(&mut self, address: Address) -> Result<(), Error> {
        let view = self.store.view()?;
        let table = &view.tables.wallet_counts;
        let total = keys::count(self.chain, address, TOTAL, 0);
        for item in view.snapshot.prefix(table, keys::of_wallet(self.chain, address)) {
            let key = item.key()?;
            if *key != total {
                self.drop_key(table, key);
            }
        }
        Ok(())
    }
}
