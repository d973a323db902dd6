//! One hash over everything that blocks wrote for a chain: two stores that indexed the same chain
//! in different ways, with reorgs and restarts between, must agree on it.

use alloy_primitives::{B256, Keccak256};
use fjall::Readable;
use model::chain::ChainId;
use model::proof::Proof;

use crate::counts::Count;
use crate::read::View;
use crate::rows::{pack_header, unpack_header};
use crate::{Error, keys};

impl View {
    /// The journal is history and left out, as is what counts remember of it, and how many senders
    /// were looked at, which depends on whether a block was met at the head or in the past.
    pub fn digest(&self, chain: ChainId) -> Result<B256, Error> {
        let mut hasher = Keccak256::new();
        for (name, table) in self.tables.all() {
            if matches!(name, "journal" | "meta") {
                continue;
            }
            hasher.update(name);
            for item in self.snapshot.prefix(table, keys::chain(chain)) {
                let (key, value) = item.into_inner()?;
                let value = match name {
                    "wallet_counts" => {
                        let count =
                            Count::unpack(&value).ok_or(Error::BrokenRow { table: name })?;
                        Count { version: 0, ..count }.pack()
                    }
                    "headers" => {
                        let number = keys::last_number(&key).unwrap_or_default();
                        let (mut stamp, header) = unpack_header(number, &value)
                            .ok_or(Error::BrokenRow { table: name })?;
                        stamp.proof = stamp.proof.without(Proof::SENDERS);
                        pack_header(&stamp, &header)
                    }
                    _ => value.to_vec(),
                };
                for part in [&*key, &value] {
                    hasher.update((part.len() as u64).to_be_bytes());
                    hasher.update(part);
                }
            }
        }
        Ok(hasher.finalize())
    }
}
