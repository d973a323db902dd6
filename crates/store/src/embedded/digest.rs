//! One hash over everything that blocks wrote for a chain: two stores that indexed the same chain
//! in different ways, with reorgs and restarts between, must agree on it.

use alloy_primitives::{B256, Keccak256};
use fjall::Readable;
use model::chain::ChainId;
use model::proof::Proof;

use crate::Error;
use crate::embedded::codec::rows::{pack_header, unpack_header};
use crate::embedded::counts::Count;
use crate::embedded::keys;
use crate::embedded::read::View;

impl View {
    /// The journal is history and left out, as is what counts remember of it, how many senders were
    /// looked at, which depends on whether a block was met at the head or in the past, and which pools
    /// and tokens are known, since one learned of on a branch that is gone stays known.
    pub fn digest(&self, chain: ChainId) -> Result<B256, Error> {
        let mut hasher = Keccak256::new();
        let generation = self.generations(chain)?.current;
        for (name, table) in self.tables.all() {
            if matches!(name, "journal" | "meta" | "pools" | "tokens" | "generations") {
                continue;
            }
            hasher.update(name);
            let is_fact = matches!(name, "facts" | "nft_trades" | "nft_lowest" | "pool_states");
            let prefix = match is_fact {
                true => keys::of_facts(chain, generation).to_vec(),
                false => keys::chain(chain).to_vec(),
            };
            for item in self.snapshot.prefix(table, &prefix) {
                let (key, value) = item.into_inner()?;
                // Without the generation, of which there may have been more or fewer.
                let key = key.get(prefix.len()..).unwrap_or_default();
                let value = match name {
                    "wallet_counts" => {
                        let count =
                            Count::unpack(&value).ok_or(Error::BrokenRow { table: name })?;
                        Count { version: 0, ..count }.pack()
                    }
                    "headers" => {
                        let number = keys::last_number(key).unwrap_or_default();
                        let (mut stamp, header) = unpack_header(number, &value)
                            .ok_or(Error::BrokenRow { table: name })?;
                        stamp.proof = stamp.proof.without(Proof::SENDERS);
                        pack_header(&stamp, &header)
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
