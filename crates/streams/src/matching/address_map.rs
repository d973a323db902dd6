//! Address → slots of the streams that watch it, in 24 bytes for an address that one stream watches.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use alloy_primitives::Address;

use super::Slot;
use super::slot_lists::SlotLists;

/// A value with this bit is the number of a list, any other is the only slot.
const LIST: u32 = 1 << 31;

/// The standard map's hasher is seeded: users choose the addresses, and must not be able to make them collide.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressMap {
    map: HashMap<Address, u32>,
    lists: SlotLists,
}

const _: () = assert!(size_of::<(Address, u32)>() == 24);

impl AddressMap {
    pub fn slots(&self, address: &Address) -> &[Slot] {
        match self.map.get(address) {
            None => &[],
            Some(value) if value & LIST != 0 => self.lists.get(value & !LIST),
            Some(slot) => std::slice::from_ref(slot),
        }
    }

    /// Whether it was not there yet.
    pub fn insert(&mut self, address: Address, slot: Slot) -> bool {
        match self.map.entry(address) {
            Entry::Vacant(entry) => {
                entry.insert(slot);
                true
            }
            Entry::Occupied(entry) if entry.get() & LIST != 0 => {
                self.lists.insert(entry.get() & !LIST, slot)
            }
            Entry::Occupied(entry) if *entry.get() == slot => false,
            Entry::Occupied(mut entry) => {
                let number = self.lists.pair(*entry.get(), slot);
                entry.insert(number | LIST);
                true
            }
        }
    }

    /// Whether it was there.
    pub fn remove(&mut self, address: Address, slot: Slot) -> bool {
        let Entry::Occupied(mut entry) = self.map.entry(address) else { return false };
        let value = *entry.get();
        match removed(&mut self.lists, value, slot) {
            Removed::Nothing => false,
            Removed::Last => {
                entry.remove();
                true
            }
            Removed::Left(value) => {
                entry.insert(value);
                true
            }
        }
    }

    /// Looks at every address: there is no list of a stream's addresses, which would cost as much as the map.
    pub fn remove_all(&mut self, slot: Slot) {
        let lists = &mut self.lists;
        self.map.retain(|_, value| match removed(lists, *value, slot) {
            Removed::Nothing => true,
            Removed::Last => false,
            Removed::Left(left) => {
                *value = left;
                true
            }
        });
        self.shrink();
    }

    /// Gives memory back once most of it is unused.
    pub fn shrink(&mut self) {
        if self.map.len() < self.map.capacity() / 4 {
            self.map.shrink_to_fit();
        }
    }

    /// What is allocated: an entry and a control byte for each bucket, of which seven in eight may be filled.
    pub fn memory_bytes(&self) -> usize {
        let buckets = (self.map.capacity() * 8).div_ceil(7).next_power_of_two();
        buckets * (size_of::<(Address, u32)>() + 1) + self.lists.memory_bytes()
    }
}

enum Removed {
    Nothing,
    /// The address has no slot any more.
    Last,
    /// What the address's value is now.
    Left(u32),
}

fn removed(lists: &mut SlotLists, value: u32, slot: Slot) -> Removed {
    if value & LIST == 0 {
        return if value == slot { Removed::Last } else { Removed::Nothing };
    }
    let number = value & !LIST;
    if !lists.remove(number, slot) {
        return Removed::Nothing;
    }
    if let [only] = *lists.get(number) {
        lists.give_back(number);
        return Removed::Left(only);
    }
    Removed::Left(value)
}
