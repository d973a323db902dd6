//! Facts: every row can be read, belongs to a stored block, and its index rows are there and no others.
//! Rows of generations that nobody reads any more are left out; they are on their way out.

use super::ChainCheck;
use super::sum::Sum;
use crate::Error;
use crate::check::CheckedPart;
use crate::embedded::codec;
use crate::embedded::facts::FactsRow;
use crate::embedded::keys;

#[derive(Default)]
struct ExpectedFacts {
    trades: Sum,
    lowest: Sum,
    states: Sum,
}

impl ChainCheck<'_> {
    pub fn facts(&mut self) {
        let generations = match self.view.generations(self.chain) {
            Ok(generations) => generations,
            Err(error) => {
                let mut part = self.part("facts");
                part.fault(error.to_string());
                return self.parts.push(part);
            }
        };
        for generation in generations.written() {
            self.generation(generation);
        }
    }

    fn generation(&mut self, generation: u8) {
        let mut part = self.part("facts");
        let mut expected = ExpectedFacts::default();
        if let Err(error) = self.walk_facts(generation, &mut part, &mut expected) {
            part.fault(error.to_string());
        }
        self.parts.push(part);
        let t = self.view.tables.clone();
        let prefix = keys::of_facts(self.chain, generation);
        let keys_only = |_: &[u8]| None;
        self.compare("sales by contract", (&t.nft_trades, &prefix), expected.trades, keys_only);
        self.compare("sales by price", (&t.nft_lowest, &prefix), expected.lowest, keys_only);
        self.compare("states of pools", (&t.pool_states, &prefix), expected.states, keys_only);
        self.pools(generation);
    }

    fn walk_facts(
        &self,
        generation: u8,
        part: &mut CheckedPart,
        expected: &mut ExpectedFacts,
    ) -> Result<(), Error> {
        let (chain, t) = (self.chain, &self.view.tables);
        let coverage = self.view.coverage(chain)?;
        for item in self.view.snapshot.prefix(&t.facts, keys::of_facts(chain, generation)) {
            let (key, value) = item.into_inner()?;
            part.count += 1;
            let number = keys::last_number(&key).unwrap_or_default();
            let Some(row) = FactsRow::unpack(&value) else {
                part.fault(format!("the facts of block {number} cannot be read back"));
                continue;
            };
            if !coverage.contains(number) {
                part.fault(format!("there are facts of block {number}, which is not stored"));
            }
            let trades = row.trade_keys(chain, generation, number);
            trades.listed.iter().for_each(|key| expected.trades.add(key, &[]));
            trades.priced.iter().for_each(|key| expected.lowest.add(key, &[]));
            for id in &row.changed_pools {
                let key = keys::pool_state(chain, generation, id, number);
                expected.states.add(&key, &[]);
                let state = self.view.snapshot.get(&t.pool_states, &key)?;
                let is_good = state
                    .is_none_or(|state| codec::pool_change::unpack(*id, &mut &*state).is_some());
                if !is_good {
                    part.fault(format!("a pool's state at block {number} cannot be read back"));
                }
            }
        }
        Ok(())
    }
}
