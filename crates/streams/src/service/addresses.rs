//! The addresses of a stream. A change is in force from a block that the answer names, with nothing missed.

use alloy_primitives::Address;
use model::chain::ChainId;
use store::StreamId;

use super::error::NO_ADDRESS;
use super::{StreamError, Streams};
use crate::clock;

/// The first block for which a change counts, by chain.
pub type FromBlocks = Vec<(ChainId, u64)>;

const ADDRESSES_AT_ONCE: usize = 10_000;

impl Streams {
    pub async fn add_addresses(
        &self,
        tenant: &str,
        id: StreamId,
        addresses: Vec<Address>,
    ) -> Result<FromBlocks, StreamError> {
        let _one_at_a_time = self.changing(id).await;
        let count = self.with(tenant, id, |entry| entry.addresses)?;
        self.check_addresses(count.saturating_add(addresses.len() as u64))?;
        self.change_addresses(id, addresses, Vec::new()).await
    }

    /// None but these from now on.
    pub async fn replace_addresses(
        &self,
        tenant: &str,
        id: StreamId,
        addresses: Vec<Address>,
    ) -> Result<FromBlocks, StreamError> {
        let _one_at_a_time = self.changing(id).await;
        self.with(tenant, id, |_| ())?;
        self.check_addresses(addresses.len() as u64)?;
        let wanted: std::collections::HashSet<Address> = addresses.iter().copied().collect();
        let mut gone = Vec::new();
        let mut after = None;
        loop {
            let some =
                self.inner.context.store.stream_addresses(id, after, ADDRESSES_AT_ONCE).await?;
            let Some(last) = some.last() else { break };
            after = Some(*last);
            gone.extend(some.into_iter().filter(|address| !wanted.contains(address)));
        }
        self.change_addresses(id, addresses, gone).await
    }

    pub async fn remove_addresses(
        &self,
        tenant: &str,
        id: StreamId,
        addresses: Vec<Address>,
    ) -> Result<FromBlocks, StreamError> {
        let _one_at_a_time = self.changing(id).await;
        let is_any_known = self.with(tenant, id, |_| ()).map(|()| {
            let registry = self.inner.context.registry.read();
            let slot = registry.slot(id);
            slot.is_some_and(|slot| {
                addresses.iter().any(|it| registry.index.has_address(slot, *it))
            })
        })?;
        if !is_any_known {
            return Err(NO_ADDRESS);
        }
        self.change_addresses(id, Vec::new(), addresses).await
    }

    async fn change_addresses(
        &self,
        id: StreamId,
        add: Vec<Address>,
        remove: Vec<Address>,
    ) -> Result<FromBlocks, StreamError> {
        let context = &self.inner.context;
        let held = self.inner.engine.hold(id).await?;
        let count = context.store.change_stream_addresses(id, add.clone(), remove.clone()).await?;
        let row = {
            let mut registry = context.registry.write();
            registry.remove_addresses(id, &remove);
            registry.add_addresses(id, &add);
            registry.get_mut(id).map(|entry| {
                entry.addresses = count;
                entry.record.updated_ms = clock::now_ms();
                entry.record.row(id, &entry.tenant)
            })
        };
        let next =
            |locked: &crate::engine::LockedChain| Some((locked.chain, locked.state.next_block()?));
        let from_blocks = held.iter().filter_map(next).collect();
        drop(held);
        if let Some(row) = row {
            context.store.put_stream(row).await?;
        }
        Ok(from_blocks)
    }

    fn check_addresses(&self, count: u64) -> Result<(), StreamError> {
        let max = self.inner.context.config.addresses_per_stream_max;
        if count <= max {
            return Ok(());
        }
        let why = format!(
            "a stream may have {max} addresses on this server (streams.addresses_per_stream_max), this one would have {count}"
        );
        Err(StreamError::TooMany(why))
    }

    /// In the order of their bytes, with how many there are in all.
    pub async fn addresses(
        &self,
        tenant: &str,
        id: StreamId,
        after: Option<Address>,
        limit: usize,
    ) -> Result<(Vec<Address>, u64), StreamError> {
        let total = self.with(tenant, id, |entry| entry.addresses)?;
        let some = self.inner.context.store.stream_addresses(id, after, limit).await?;
        Ok((some, total))
    }
}
