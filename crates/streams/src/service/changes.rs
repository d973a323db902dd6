//! Create, update, delete, duplicate. A change is tried on the receiver first, written, then in force.

use alloy_primitives::Address;
use model::chain::ChainId;
use store::StreamId;

use super::error::NO_STREAM;
use super::load::{chains_of, plan};
use super::{StreamError, Streams};
use crate::clock;
use crate::definition::{Definition, read_create, read_update};
use crate::engine::Placed;
use crate::record::{OwnStart, StreamRecord, StreamView};
use crate::registry::{Class, Mode, StreamEntry};
use crate::uuid::new_stream_id;

const ADDRESSES_AT_ONCE: usize = 10_000;

impl Streams {
    pub async fn create(&self, tenant: &str, body: &[u8]) -> Result<StreamView, StreamError> {
        let definition = read_create(body)?;
        self.create_from(tenant, definition, None).await
    }

    /// A new stream with the same settings and addresses.
    pub async fn duplicate(&self, tenant: &str, id: StreamId) -> Result<StreamView, StreamError> {
        let definition = self.with(tenant, id, |entry| entry.record.definition.clone())?;
        self.create_from(tenant, definition, Some(id)).await
    }

    async fn create_from(
        &self,
        tenant: &str,
        definition: Definition,
        addresses_of: Option<StreamId>,
    ) -> Result<StreamView, StreamError> {
        self.check_chains(&definition)?;
        self.check_count(tenant)?;
        let id = new_stream_id();
        let plan = plan(id, &definition)?;
        self.test_call(tenant, &definition.webhook_url).await?;
        let mut record = StreamRecord::new(definition);
        // A server that is killed before it begins on its chains begins there when it is back.
        if let Some(from_block) = record.definition.from_block {
            for chain in &plan.chains {
                record.set_own_reader(*chain, Some(OwnStart::Block(from_block)));
            }
        }
        let entry = StreamEntry {
            id,
            tenant: tenant.to_owned(),
            record,
            plan,
            modes: Default::default(),
            addresses: 0,
            note: None,
        };
        // Nothing is matched before it begins on its chains, below.
        let row = entry.record.row(id, tenant);
        self.inner.context.store.put_stream(row).await?;
        self.inner.context.registry.write().insert(entry);
        if let Some(from) = addresses_of {
            self.copy_addresses(from, id).await?;
        }
        let chains = self.with(tenant, id, |entry| entry.plan.chains.clone())?;
        let from_block = self.with(tenant, id, |entry| entry.record.definition.from_block)?;
        for chain in chains {
            self.begin(id, chain, from_block).await?;
        }
        self.get(tenant, id)
    }

    /// Lets a stream begin on a chain, and notes where, before anything is matched.
    pub(super) async fn begin(
        &self,
        id: StreamId,
        chain: ChainId,
        from_block: Option<u64>,
    ) -> Result<(), StreamError> {
        let registry = &self.inner.context.registry;
        let class = registry.read().get(id).map(|it| Class::of(&it.record.definition));
        let class = class.ok_or(NO_STREAM)?;
        let Some(placed) = self.inner.engine.place(chain, class, from_block).await? else {
            return Ok(());
        };
        self.settle_at(id, chain, class, &placed).await
    }

    pub(super) async fn settle_at(
        &self,
        id: StreamId,
        chain: ChainId,
        class: Class,
        placed: &Placed,
    ) -> Result<(), StreamError> {
        let context = &self.inner.context;
        let Some(start) = placed.own_start else {
            return self.join_others(id, chain, class).await;
        };
        let row = {
            let mut registry = context.registry.write();
            let entry = registry.get_mut(id).ok_or(NO_STREAM)?;
            entry.record.set_own_reader(chain, Some(start));
            let row = entry.record.row(id, &entry.tenant);
            registry.set_mode(id, chain, Some(Mode::Own));
            row
        };
        context.store.put_stream(row).await?;
        Ok(self.inner.engine.start_own(chain, id, start.into()).await?)
    }

    async fn join_others(
        &self,
        id: StreamId,
        chain: ChainId,
        class: Class,
    ) -> Result<(), StreamError> {
        let row = {
            let mut registry = self.inner.context.registry.write();
            registry.set_mode(id, chain, Some(Mode::Shared(class)));
            let entry = registry.get_mut(id).ok_or(NO_STREAM)?;
            let is_noted = entry.record.own_readers.iter().any(|own| own.chain == chain.0);
            entry.record.set_own_reader(chain, None);
            is_noted.then(|| entry.record.row(id, &entry.tenant))
        };
        match row {
            Some(row) => Ok(self.inner.context.store.put_stream(row).await?),
            None => Ok(()),
        }
    }

    pub async fn update(
        &self,
        tenant: &str,
        id: StreamId,
        body: &[u8],
    ) -> Result<StreamView, StreamError> {
        let _one_at_a_time = self.changing(id).await;
        let current = self.with(tenant, id, |entry| entry.record.definition.clone())?;
        let definition = read_update(&current, body)?;
        self.check_chains(&definition)?;
        let plan = plan(id, &definition)?;
        self.test_call(tenant, &definition.webhook_url).await?;
        let (before, after) = (chains_of(&current), plan.chains.clone());
        let class = Class::of(&definition);
        let held = self.inner.engine.hold(id).await?;
        let mut record = self.with(tenant, id, |entry| entry.record.clone())?;
        record.definition = definition;
        record.updated_ms = clock::now_ms();
        self.inner.context.store.put_stream(record.row(id, tenant)).await?;
        {
            let mut registry = self.inner.context.registry.write();
            registry.set_plan(id, plan);
            if let Some(entry) = registry.get_mut(id) {
                entry.record = record;
            }
        }
        // One that needs more or less than before goes on by itself until it is where its new class is.
        for locked in held.iter().filter(|it| after.contains(&it.chain)) {
            if matches!(locked.mode, Mode::Shared(old) if old != class) {
                self.inner.engine.detach(locked, id).await?;
            }
        }
        drop(held);
        for chain in before.iter().filter(|chain| !after.contains(chain)) {
            self.inner.context.registry.write().set_mode(id, *chain, None);
            self.inner.engine.end_own(*chain, id).await?;
        }
        for chain in after.iter().filter(|chain| !before.contains(chain)) {
            self.begin(id, *chain, None).await?;
        }
        self.get(tenant, id)
    }

    pub async fn delete(&self, tenant: &str, id: StreamId) -> Result<StreamView, StreamError> {
        let _one_at_a_time = self.changing(id).await;
        let view = self.get(tenant, id)?;
        // Its row goes first: what is matched meanwhile is not written any more.
        self.inner.context.store.remove_stream(id).await?;
        let removed = self.inner.context.registry.write().remove(id);
        for chain in removed.iter().flat_map(|entry| entry.modes.keys()) {
            self.inner.engine.end_own(*chain, id).await?;
        }
        Ok(view)
    }

    async fn copy_addresses(&self, from: StreamId, to: StreamId) -> Result<(), StreamError> {
        let store = &self.inner.context.store;
        let mut after: Option<Address> = None;
        loop {
            let some = store.stream_addresses(from, after, ADDRESSES_AT_ONCE).await?;
            let Some(last) = some.last() else { return Ok(()) };
            after = Some(*last);
            let count = store.change_stream_addresses(to, some.clone(), Vec::new()).await?;
            let mut registry = self.inner.context.registry.write();
            registry.add_addresses(to, &some);
            if let Some(entry) = registry.get_mut(to) {
                entry.addresses = count;
            }
        }
    }

    fn check_chains(&self, definition: &Definition) -> Result<(), StreamError> {
        let served = &self.inner.context.chains;
        for (text, chain) in definition.chain_ids.iter().zip(chains_of(definition)) {
            if !served.contains_key(&chain) {
                return Err(self.not_served(text));
            }
        }
        Ok(())
    }

    pub(super) fn not_served(&self, chain: &str) -> StreamError {
        let served = self.inner.context.chains.values();
        let served: Vec<String> =
            served.map(|it| format!("{:#x} ({})", it.chain.id.0, it.chain.slug)).collect();
        let served = if served.is_empty() { "none".to_owned() } else { served.join(", ") };
        let chain = model::printable(chain, 80);
        StreamError::BadRequest(format!(
            "chain {chain} is not served here; served chains: {served}"
        ))
    }

    fn check_count(&self, tenant: &str) -> Result<(), StreamError> {
        let max = self.inner.context.config.streams_per_tenant_max;
        if self.inner.context.registry.read().count_of(tenant) < max {
            return Ok(());
        }
        let why = format!(
            "there are {max} streams already, which is all that this server allows a tenant (streams.streams_per_tenant_max)"
        );
        Err(StreamError::TooMany(why))
    }

    pub(super) async fn test_call(&self, tenant: &str, url: &str) -> Result<(), StreamError> {
        let settings = self.inner.settings.get(tenant).await?;
        let called = self.inner.deliverer.test_call(url, &settings.secrets, &settings.region).await;
        called.map_err(|why| {
            tracing::debug!(%why, "a test call failed");
            let url = model::printable(url, 300);
            StreamError::BadRequest(format!(
                "Could not POST to {url}. Please check your webhook URL. ({why})"
            ))
        })
    }
}
