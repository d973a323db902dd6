//! Which part of a file begins where: the directory of a table's blocks, in two steps. The upper one, a list of
//! lower ones, is in memory while the file is open.

use crate::embedded::codec::{put_varint, take_varint};

/// Where a part lies, with its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PartAt {
    pub offset: u64,
    pub bytes: u64,
}

impl PartAt {
    pub fn put(self, out: &mut Vec<u8>) {
        put_varint(out, self.offset);
        put_varint(out, self.bytes);
    }

    pub fn take(input: &mut &[u8]) -> Option<Self> {
        Some(PartAt { offset: take_varint(input)?, bytes: take_varint(input)? })
    }
}

/// Parts by where they begin: no key before it is in the part, and all keys of the part before are below. Without chains.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Entries(Vec<Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    begins: Box<[u8]>,
    part: PartAt,
    /// Rows of the table in parts before it.
    rows_before: u64,
}

impl Entries {
    pub fn push(&mut self, begins: &[u8], part: PartAt, rows_before: u64) {
        self.0.push(Entry { begins: begins.into(), part, rows_before });
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Where the first begins, and the rows before it.
    pub fn first(&self) -> Option<(&[u8], u64)> {
        self.0.first().map(|entry| (&*entry.begins, entry.rows_before))
    }

    pub fn get(&self, index: usize) -> Option<PartAt> {
        self.0.get(index).map(|entry| entry.part)
    }

    pub fn rows_before(&self, index: usize) -> Option<u64> {
        self.0.get(index).map(|entry| entry.rows_before)
    }

    /// The one in which the key is, if it is there at all; the first for a key before all others.
    pub fn find(&self, key: &[u8]) -> usize {
        self.0.partition_point(|entry| *entry.begins <= *key).saturating_sub(1)
    }

    pub fn memory_bytes(&self) -> u64 {
        self.0.iter().map(|entry| entry.begins.len() + size_of::<Entry>()).sum::<usize>() as u64
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for Entry { begins, part, rows_before } in &self.0 {
            put_varint(&mut out, begins.len() as u64);
            out.extend_from_slice(begins);
            part.put(&mut out);
            put_varint(&mut out, *rows_before);
        }
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let mut entries = Vec::new();
        while !input.is_empty() {
            let key_bytes = usize::try_from(take_varint(&mut input)?).ok()?;
            let (key, rest) = input.split_at_checked(key_bytes)?;
            input = rest;
            let (begins, part) = (key.into(), PartAt::take(&mut input)?);
            entries.push(Entry { begins, part, rows_before: take_varint(&mut input)? });
        }
        Some(Entries(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_looked_for_in_the_part_that_begins_before_it() {
        let mut entries = Entries::default();
        for (at, key) in [b"b", b"d", b"f"].into_iter().enumerate() {
            entries.push(key, PartAt { offset: at as u64 * 1000, bytes: 300 }, at as u64 * 7);
        }
        for (key, expected) in [("a", 0), ("b", 0), ("c", 0), ("d", 1), ("e", 1), ("g", 2)] {
            assert_eq!(entries.find(key.as_bytes()), expected, "{key}");
        }
        assert_eq!((entries.rows_before(2), entries.rows_before(3)), (Some(14), None));
        let packed = entries.pack();
        assert_eq!(Entries::unpack(&packed), Some(entries));
        assert_eq!(Entries::unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(Entries::default().find(b"a"), 0);
    }
}
