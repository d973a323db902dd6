//! Counts of wallets, made again from their rows.

use super::ChainCheck;
use super::sum::Sum;
use crate::Error;
use crate::embedded::keys;

impl ChainCheck<'_> {
    pub fn wallets(&mut self) {
        let t = self.view.tables.clone();
        match self.expected_counts() {
            Ok(expected) => {
                let prefix = keys::chain(self.chain);
                let table = (&t.wallet_counts, prefix.as_slice());
                self.compare("counts of wallets", table, expected, |value| Some(value.to_vec()));
            }
            Err(error) => {
                let mut part = self.part("counts of wallets");
                part.fault(error.to_string());
                self.parts.push(part);
            }
        }
    }

    /// A wallet of many rows may be counted; of others no count is stored.
    fn expected_counts(&self) -> Result<Sum, Error> {
        let t = &self.view.tables;
        let mut sum = Sum::default();
        let mut is_counted = false;
        for row in self.view.wallet_counts_in_tables(&keys::chain(self.chain)) {
            let (key, count) = row?;
            if keys::is_total(&key) {
                is_counted =
                    count.is_many() && self.view.snapshot.get(&t.wallet_counts, &key)?.is_some();
            }
            if is_counted {
                sum.add(&key, &count.pack());
            }
        }
        Ok(sum)
    }
}
