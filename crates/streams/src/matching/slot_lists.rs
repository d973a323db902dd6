//! Lists of slots for the few addresses that several streams watch.

use super::Slot;

/// Sorted lists by number; numbers of lists that were given back are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotLists {
    lists: Vec<Vec<Slot>>,
    free: Vec<u32>,
}

impl SlotLists {
    pub fn get(&self, number: u32) -> &[Slot] {
        self.lists.get(number as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Makes a list of two.
    pub fn pair(&mut self, one: Slot, other: Slot) -> u32 {
        let list = vec![one.min(other), one.max(other)];
        if let Some(number) = self.free.pop()
            && let Some(place) = self.lists.get_mut(number as usize)
        {
            *place = list;
            return number;
        }
        self.lists.push(list);
        (self.lists.len() - 1) as u32
    }

    /// Whether it was not there yet.
    pub fn insert(&mut self, number: u32, slot: Slot) -> bool {
        self.lists.get_mut(number as usize).is_some_and(|list| insert_sorted(list, slot))
    }

    /// Whether it was there. A list with one member left is the caller's to give back.
    pub fn remove(&mut self, number: u32, slot: Slot) -> bool {
        self.lists.get_mut(number as usize).is_some_and(|list| remove_sorted(list, slot))
    }

    pub fn give_back(&mut self, number: u32) {
        if let Some(list) = self.lists.get_mut(number as usize) {
            *list = Vec::new();
            self.free.push(number);
        }
    }

    pub fn memory_bytes(&self) -> usize {
        let slots: usize = self.lists.iter().map(|list| list.capacity() * size_of::<Slot>()).sum();
        slots + self.lists.capacity() * size_of::<Vec<Slot>>() + self.free.capacity() * 4
    }
}

/// Whether it was not there yet. Slots mostly come rising, and then this is a push.
pub(super) fn insert_sorted(list: &mut Vec<Slot>, slot: Slot) -> bool {
    if list.last().is_none_or(|last| *last < slot) {
        list.push(slot);
        return true;
    }
    let place = list.binary_search(&slot);
    place.inspect_err(|place| list.insert(*place, slot)).is_err()
}

pub(super) fn remove_sorted(list: &mut Vec<Slot>, slot: Slot) -> bool {
    list.binary_search(&slot).map(|place| list.remove(place)).is_ok()
}
