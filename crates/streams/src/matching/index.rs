//! Which streams look at an address or an event: the inverse of what streams say.

use std::collections::HashMap;
use std::sync::Arc;

use alloy_primitives::{Address, B256};

use super::address_map::AddressMap;
use super::slot_lists::{insert_sorted, remove_sorted};
use super::{Slot, StreamPlan};

/// A stream goes by its slot, which the caller chooses and may give to another stream after `remove`.
#[derive(Clone, Debug, Default)]
pub struct StreamIndex {
    plans: HashMap<Slot, Arc<StreamPlan>>,
    addresses: AddressMap,
    /// How many addresses a stream has.
    counts: HashMap<Slot, usize>,
    /// The first topic → streams that want such events of all contracts.
    topics: HashMap<B256, Vec<Slot>>,
}

impl StreamIndex {
    pub fn new() -> Self {
        Self::default()
    }

    /// New, or in place of what was there; the addresses stay.
    pub fn put(&mut self, slot: Slot, plan: Arc<StreamPlan>) {
        if let Some(old) = self.plans.remove(&slot) {
            self.remove_topics(slot, &old);
        }
        for topic in topics_of_all(&plan) {
            insert_sorted(self.topics.entry(topic).or_default(), slot);
        }
        self.plans.insert(slot, plan);
    }

    /// The stream and its addresses. Looks through all addresses of all streams unless this one has none left:
    /// who has its list at hand calls `remove_addresses` first.
    pub fn remove(&mut self, slot: Slot) {
        if let Some(old) = self.plans.remove(&slot) {
            self.remove_topics(slot, &old);
        }
        if self.counts.remove(&slot).is_some_and(|count| count > 0) {
            self.addresses.remove_all(slot);
        }
    }

    pub fn add_addresses(&mut self, slot: Slot, addresses: impl IntoIterator<Item = Address>) {
        let addresses = addresses.into_iter();
        // No room is made ahead: most of them may be there already, and growing costs little.
        let added = addresses.filter(|address| self.addresses.insert(*address, slot)).count();
        *self.counts.entry(slot).or_default() += added;
    }

    pub fn remove_addresses(&mut self, slot: Slot, addresses: impl IntoIterator<Item = Address>) {
        let addresses = addresses.into_iter();
        let removed = addresses.filter(|address| self.addresses.remove(*address, slot)).count();
        if let Some(count) = self.counts.get_mut(&slot) {
            *count = count.saturating_sub(removed);
        }
        if removed > BULK {
            self.addresses.shrink();
        }
    }

    pub fn has_address(&self, slot: Slot, address: Address) -> bool {
        self.slots_of(&address).binary_search(&slot).is_ok()
    }

    /// How many addresses a stream has.
    pub fn address_count(&self, slot: Slot) -> usize {
        self.counts.get(&slot).copied().unwrap_or_default()
    }

    pub fn plan(&self, slot: Slot) -> Option<&Arc<StreamPlan>> {
        self.plans.get(&slot)
    }

    /// What the addresses take, for the operator.
    pub fn address_bytes(&self) -> usize {
        self.addresses.memory_bytes()
    }

    /// Streams that watch it, rising.
    pub(super) fn slots_of(&self, address: &Address) -> &[Slot] {
        self.addresses.slots(address)
    }

    /// Streams that want such an event of all contracts, rising.
    pub(super) fn slots_of_topic(&self, topic: &B256) -> &[Slot] {
        self.topics.get(topic).map(Vec::as_slice).unwrap_or_default()
    }

    fn remove_topics(&mut self, slot: Slot, plan: &StreamPlan) {
        for topic in topics_of_all(plan) {
            if let Some(slots) = self.topics.get_mut(&topic) {
                remove_sorted(slots, slot);
                if slots.is_empty() {
                    self.topics.remove(&topic);
                }
            }
        }
    }
}

/// From so many addresses on it is worth a look whether memory can be given back.
const BULK: usize = 1024;

fn topics_of_all(plan: &StreamPlan) -> impl Iterator<Item = B256> {
    let wanted = plan.definition.all_addresses && plan.definition.include_contract_logs;
    plan.compiled.events.iter().filter(move |_| wanted).map(|rule| rule.topic0)
}
