//! Reads all streams from the store when the server starts.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::chain::ChainId;
use store::{Error, StreamId};

use super::StreamError;
use crate::definition::{Compiled, Definition};
use crate::engine::Context;
use crate::matching::StreamPlan;
use crate::record::StreamRecord;
use crate::registry::{Class, Mode, StreamEntry};
use crate::settings::SettingsBook;

const ADDRESSES_AT_ONCE: usize = 10_000;

/// A definition made ready to be matched.
pub fn plan(id: StreamId, definition: &Definition) -> Result<Arc<StreamPlan>, StreamError> {
    let compiled = Compiled::new(definition)?;
    let chains = chains_of(definition);
    Ok(Arc::new(StreamPlan { id, definition: definition.clone(), compiled, chains }))
}

pub fn chains_of(definition: &Definition) -> Vec<ChainId> {
    let id = |text: &String| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    definition.chain_ids.iter().filter_map(id).map(ChainId).collect()
}

pub async fn load(context: &Context, settings: &SettingsBook) -> Result<(), StreamError> {
    for row in context.store.streams().await? {
        let broken = Error::Broken { what: "stream" };
        let record: StreamRecord = serde_json::from_slice(&row.body).map_err(|_| broken)?;
        let class = Class::of(&record.definition);
        let is_own = |chain: &ChainId| record.own_readers.iter().any(|own| own.chain == chain.0);
        let modes: BTreeMap<ChainId, Mode> = chains_of(&record.definition)
            .into_iter()
            .map(|chain| (chain, if is_own(&chain) { Mode::Own } else { Mode::Shared(class) }))
            .collect();
        settings.get(&row.tenant).await?;
        let plan = plan(row.id, &record.definition)?;
        let addresses = context.store.stream_address_count(row.id).await?;
        let (id, tenant) = (row.id, row.tenant);
        let entry = StreamEntry { id, tenant, record, plan, modes, addresses, note: None };
        context.registry.write().insert(entry);
        load_addresses(context, id).await?;
    }
    Ok(())
}

async fn load_addresses(context: &Context, id: StreamId) -> Result<(), StreamError> {
    let mut after = None;
    loop {
        let some = context.store.stream_addresses(id, after, ADDRESSES_AT_ONCE).await?;
        let Some(last) = some.last() else { return Ok(()) };
        after = Some(*last);
        context.registry.write().add_addresses(id, &some);
    }
}
