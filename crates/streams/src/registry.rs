//! Every stream of this server, in memory: what it is, who matches it on which chain, and the index by which
//! blocks find it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use alloy_primitives::Address;
use model::chain::ChainId;
use store::StreamId;

use crate::definition::Definition;
use crate::matching::{Slot, StreamIndex, StreamPlan};
use crate::record::{StreamRecord, StreamView};

/// What a stream needs beside the block decides by which of a chain's readers it is matched: one that waits
/// for a node must not keep others waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Nothing but the block.
    Plain,
    /// Answers of contracts or balances.
    Calls,
    /// Internal transactions.
    Traces,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Plain, Class::Calls, Class::Traces];

    pub fn of(definition: &Definition) -> Self {
        if definition.include_internal_txs {
            Class::Traces
        } else if definition.triggers.is_empty() && definition.get_native_balances.is_empty() {
            Class::Plain
        } else {
            Class::Calls
        }
    }

    pub fn reader_name(self) -> &'static str {
        match self {
            Class::Plain => "streams",
            Class::Calls => "streams/calls",
            Class::Traces => "streams/traces",
        }
    }
}

/// Who matches a stream on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The reader of its class, with the others.
    Shared(Class),
    /// A reader of its own.
    Own,
}

pub struct StreamEntry {
    pub id: StreamId,
    pub tenant: String,
    pub record: StreamRecord,
    pub plan: Arc<StreamPlan>,
    pub modes: BTreeMap<ChainId, Mode>,
    pub addresses: u64,
    /// What it waits for, where that is worth telling.
    pub note: Option<String>,
}

impl StreamEntry {
    pub fn view(&self) -> StreamView {
        let mut view = StreamView::new(self.id, &self.record, self.addresses);
        if let Some(note) = &self.note {
            view.status_message = format!("{}; {note}", view.status_message);
        }
        view
    }
}

#[derive(Default)]
pub struct RegistryState {
    slots: Vec<Option<StreamEntry>>,
    free: Vec<Slot>,
    by_id: HashMap<StreamId, Slot>,
    /// By tenant, oldest first.
    tenants: HashMap<String, BTreeSet<(u64, StreamId)>>,
    pub index: StreamIndex,
    /// How many streams each shared reader has.
    members: HashMap<(ChainId, Class), usize>,
}

impl RegistryState {
    pub fn has_members(&self, chain: ChainId, class: Class) -> bool {
        self.members.get(&(chain, class)).is_some_and(|count| *count > 0)
    }

    /// None: no longer on that chain.
    pub fn set_mode(&mut self, id: StreamId, chain: ChainId, mode: Option<Mode>) {
        let Some(entry) = self.get_mut(id) else { return };
        let before = match mode {
            Some(mode) => entry.modes.insert(chain, mode),
            None => entry.modes.remove(&chain),
        };
        self.count(chain, before, mode);
    }

    fn count(&mut self, chain: ChainId, before: Option<Mode>, now: Option<Mode>) {
        if let Some(Mode::Shared(class)) = now {
            *self.members.entry((chain, class)).or_default() += 1;
        }
        if let Some(Mode::Shared(class)) = before {
            let count = self.members.entry((chain, class)).or_default();
            *count = count.saturating_sub(1);
        }
    }

    pub fn insert(&mut self, entry: StreamEntry) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            Slot::try_from(self.slots.len() - 1).unwrap_or(Slot::MAX)
        });
        self.by_id.insert(entry.id, slot);
        for (chain, mode) in &entry.modes {
            self.count(*chain, None, Some(*mode));
        }
        let of_tenant = self.tenants.entry(entry.tenant.clone()).or_default();
        of_tenant.insert((entry.record.created_ms, entry.id));
        self.index.put(slot, entry.plan.clone());
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(entry);
        }
        slot
    }

    pub fn remove(&mut self, id: StreamId) -> Option<StreamEntry> {
        let slot = self.by_id.remove(&id)?;
        let entry = self.slots.get_mut(slot as usize)?.take()?;
        self.index.remove(slot);
        self.free.push(slot);
        for (chain, mode) in &entry.modes {
            self.count(*chain, Some(*mode), None);
        }
        if let Some(of_tenant) = self.tenants.get_mut(&entry.tenant) {
            of_tenant.remove(&(entry.record.created_ms, id));
        }
        Some(entry)
    }

    pub fn slot(&self, id: StreamId) -> Option<Slot> {
        self.by_id.get(&id).copied()
    }

    pub fn at(&self, slot: Slot) -> Option<&StreamEntry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn get(&self, id: StreamId) -> Option<&StreamEntry> {
        self.at(self.slot(id)?)
    }

    pub fn get_mut(&mut self, id: StreamId) -> Option<&mut StreamEntry> {
        let slot = self.slot(id)?;
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    pub fn set_plan(&mut self, id: StreamId, plan: Arc<StreamPlan>) {
        let Some(slot) = self.slot(id) else { return };
        self.index.put(slot, plan.clone());
        if let Some(entry) = self.get_mut(id) {
            entry.plan = plan;
        }
    }

    pub fn add_addresses(&mut self, id: StreamId, addresses: &[Address]) {
        if let Some(slot) = self.slot(id) {
            self.index.add_addresses(slot, addresses.iter().copied());
        }
    }

    pub fn remove_addresses(&mut self, id: StreamId, addresses: &[Address]) {
        if let Some(slot) = self.slot(id) {
            self.index.remove_addresses(slot, addresses.iter().copied());
        }
    }

    pub fn of_tenant(&self, tenant: &str) -> impl DoubleEndedIterator<Item = (u64, &StreamEntry)> {
        let ids = self.tenants.get(tenant).into_iter().flatten();
        ids.filter_map(|(created, id)| Some((*created, self.get(*id)?)))
    }

    pub fn count_of(&self, tenant: &str) -> usize {
        self.tenants.get(tenant).map_or(0, BTreeSet::len)
    }

    pub fn all(&self) -> impl Iterator<Item = &StreamEntry> {
        self.slots.iter().flatten()
    }
}

#[derive(Default)]
pub struct Registry(RwLock<RegistryState>);

impl Registry {
    pub fn read(&self) -> RwLockReadGuard<'_, RegistryState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, RegistryState> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
