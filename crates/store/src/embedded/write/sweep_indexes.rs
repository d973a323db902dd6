//! Removes index rows whose block is not stored: what a log that was cut leaves of rows that went past it into tables.

use model::chain::ChainId;

use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::engine::{Durability, Op, Slice, Table};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::read::View;

const ROWS_AT_ONCE: usize = 20_000;

impl Store {
    /// Says whether any went. Counts of a chain of which any did are made again.
    pub fn sweep_indexes(&self) -> Result<bool, Error> {
        self.fold()?;
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let mut any_went = false;
        for chain in chains_with_rows(&view)? {
            let coverage = view.coverage(chain)?;
            let of_files = self.sweep_files(chain, &coverage)?;
            // Without what was in files.
            let of_tables = self.sweep_tables(&self.view()?, chain, &coverage)?;
            if of_files || of_tables {
                self.count_again(chain)?;
                any_went = true;
            }
        }
        self.persist()?;
        Ok(any_went)
    }

    fn sweep_tables(
        &self,
        view: &View,
        chain: ChainId,
        coverage: &Coverage,
    ) -> Result<bool, Error> {
        let t = &view.tables;
        let number_of_wallet: fn(&[u8]) -> Option<u64> = |key| Some(keys::place_at_end(key)?.0);
        let number_of_tx: fn(&[u8]) -> Option<u64> = |key| Some(keys::place_of_tx(key)?.0);
        let tables = [
            (&t.wallet_txs, number_of_wallet),
            (&t.wallet_internal, number_of_wallet),
            (&t.tx_by_hash, number_of_tx),
            (&t.log_words, keys::number_of_log_word),
        ];
        let mut any_went = false;
        for (table, number_of) in tables {
            let mut ops = Vec::new();
            for item in view.snapshot.prefix(table, keys::chain(chain)) {
                let key = item.key()?;
                if number_of(&key).is_none_or(|number| !coverage.contains(number)) {
                    ops.push(Op { table: table.clone(), key, value: None });
                    any_went = true;
                }
                self.write_if_many(&mut ops, ROWS_AT_ONCE)?;
            }
            self.write_if_many(&mut ops, 1)?;
        }
        Ok(any_went)
    }

    fn sweep_files(&self, chain: ChainId, coverage: &Coverage) -> Result<bool, Error> {
        let open = self.inner.database()?;
        let change = open.files.without(chain, |row| {
            let all = row.blocks.ranges().iter().flat_map(|(from, to)| *from..=*to);
            all.filter(|number| !coverage.contains(*number)).collect()
        });
        change.as_ref().map(|change| self.write_set(&open, change)).transpose()?;
        Ok(change.is_some())
    }

    fn count_again(&self, chain: ChainId) -> Result<(), Error> {
        // With what was removed above.
        let view = self.view()?;
        let table = &view.tables.wallet_counts;
        let mut ops = Vec::new();
        for item in view.snapshot.prefix(table, keys::chain(chain)) {
            ops.push(Op { table: table.clone(), key: item.key()?, value: None });
            self.write_if_many(&mut ops, ROWS_AT_ONCE)?;
        }
        self.write_if_many(&mut ops, 1)?;
        let mut is_many = false;
        for row in view.wallet_counts_in_tables(&keys::chain(chain)) {
            let (key, count) = row?;
            if keys::is_total(&key) {
                is_many = count.is_many();
            }
            if is_many {
                let (key, value) = (Slice::from(key), Some(Slice::from(count.pack())));
                ops.push(Op { table: table.clone(), key, value });
            }
            self.write_if_many(&mut ops, ROWS_AT_ONCE)?;
        }
        self.write_if_many(&mut ops, 1)
    }

    fn write_if_many(&self, ops: &mut Vec<Op>, many: usize) -> Result<(), Error> {
        if ops.len() < many {
            return Ok(());
        }
        self.inner.write(std::mem::take(ops), Durability::Process, None)
    }
}

/// Whether a block of them is stored or not.
fn chains_with_rows(view: &View) -> Result<Vec<ChainId>, Error> {
    let t = &view.tables;
    let mut chains = Vec::new();
    for table in [&t.wallet_txs, &t.wallet_internal, &t.tx_by_hash, &t.log_words] {
        view.chains_of(table, &mut chains)?;
    }
    chains.sort();
    chains.dedup();
    Ok(chains)
}

impl View {
    /// Adds the chains that a table has rows of.
    pub fn chains_of(&self, table: &Table, chains: &mut Vec<ChainId>) -> Result<(), Error> {
        let mut from = Some(0u64);
        while let Some(at) = from {
            let mut rows = self.snapshot.range(table, at.to_be_bytes().to_vec()..);
            let Some(key) = rows.next().map(|item| item.key()).transpose()? else { break };
            let Some((chain, _)) = key.split_first_chunk::<8>() else { break };
            let chain = ChainId(u64::from_be_bytes(*chain));
            chains.push(chain);
            from = chain.0.checked_add(1);
        }
        Ok(())
    }
}
