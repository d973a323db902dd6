//! One hash over everything that blocks wrote for a chain: two stores that indexed the same chain
//! in different ways, with reorgs and restarts between, must agree on it.

use alloy_primitives::{B256, Keccak256};
use model::chain::ChainId;
use model::proof::Proof;

use crate::Error;
use crate::embedded::codec::rows::{pack_header, unpack_header};
use crate::embedded::counts::Count;
use crate::embedded::keys;
use crate::embedded::read::View;

/// The journal is history, and so is what its readers keep; pools and tokens that were learned of on a
/// branch that is gone stay known; what is untraced follows from the headers.
const NOT_OF_BLOCKS: [&str; 9] = [
    "journal",
    "readers",
    "reader_rows",
    "untraced",
    "api_keys",
    "meta",
    "pools",
    "tokens",
    "generations",
];

impl View {
    /// Left out, too: when a count last changed, and how many senders were checked, which depends on
    /// whether a block was met at the head or in the past.
    pub fn digest(&self, chain: ChainId) -> Result<B256, Error> {
        let mut hasher = Keccak256::new();
        let generation = self.generations(chain)?.current;
        for (name, table) in self.tables.all() {
            if NOT_OF_BLOCKS.contains(&name) {
                continue;
            }
            hasher.update(name);
            let is_fact = matches!(name, "facts" | "nft_trades" | "nft_lowest" | "pool_states");
            let prefix = if is_fact {
                keys::of_facts(chain, generation).to_vec()
            } else {
                keys::chain(chain).to_vec()
            };
            for item in self.snapshot.prefix(table, &prefix) {
                let (key, value) = item.into_inner()?;
                // Without the generation, of which there may have been more or fewer.
                let key = key.get(prefix.len()..).unwrap_or_default();
                let value = match name {
                    "wallet_counts" => {
                        let count = Count::unpack(&value).ok_or(Error::Broken { what: name })?;
                        Count { version: 0, ..count }.pack()
                    }
                    "headers" => {
                        let number = keys::last_number(key).unwrap_or_default();
                        let (mut summary, header) =
                            unpack_header(number, &value).ok_or(Error::Broken { what: name })?;
                        summary.proof = summary.proof.without(Proof::SENDERS);
                        pack_header(&summary, &header)
                    }
                    _ => value.to_vec(),
                };
                for part in [key, &value] {
                    hasher.update((part.len() as u64).to_be_bytes());
                    hasher.update(part);
                }
            }
        }
        Ok(hasher.finalize())
    }
}
