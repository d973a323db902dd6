//! Where a reader stands, and what comes next for it. Pure: a table of tests covers every case.
//!
//! A reader walks the chain, not the order of writing. What it has seen is the chain as it was after
//! the journal entry `seq`, from its first block up to the one before `next`. So of the entries after
//! `seq` only those concern it that revert or amend a block below `next`: blocks above are met later,
//! as they are then. Reverts come newest first, so the one that concerns it is always of its last block.

use alloy_primitives::B256;

use super::{Entry, EntryKind};

/// Kept with the reader's own rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderCursor {
    /// Entries up to this one have been taken into account.
    pub seq: u64,
    /// The first block that the reader ever asked for.
    pub start: u64,
    /// The block it waits for.
    pub next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The next block of the chain.
    Apply,
    /// The last block seen is no longer on the chain.
    Revert,
    /// A block that was seen has receipts or traces now that it had not then.
    Amend,
}

/// One step along the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: EventKind,
    pub number: u64,
    pub hash: B256,
    /// Where the reader stands after this step: give it to `Reader::commit`.
    pub cursor: ReaderCursor,
}

/// What follows from some entries of the journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Event(Event),
    /// None of the entries concerns the reader.
    Passed(ReaderCursor),
}

/// `entries` follow `cursor.seq` without a hole, oldest first.
pub(crate) fn next_step(mut cursor: ReaderCursor, entries: &[Entry]) -> Step {
    for entry in entries {
        cursor.seq = entry.seq;
        let Entry { number, hash, .. } = *entry;
        if number < cursor.start || number >= cursor.next {
            continue;
        }
        let kind = match entry.kind {
            // A block below `next` was stored already, so this cannot be one of them.
            EntryKind::Apply => continue,
            EntryKind::Amend => EventKind::Amend,
            EntryKind::Revert => {
                cursor.next = number;
                EventKind::Revert
            }
        };
        return Step::Event(Event { kind, number, hash, cursor });
    }
    Step::Passed(cursor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Origin;

    fn entry(seq: u64, kind: EntryKind, number: u64) -> Entry {
        Entry { seq, kind, origin: Origin::Head, number, hash: B256::with_last_byte(seq as u8) }
    }

    const AT_TEN: ReaderCursor = ReaderCursor { seq: 5, start: 3, next: 10 };

    #[test]
    fn only_what_was_seen_concerns_a_reader() {
        let entries = [
            entry(6, EntryKind::Apply, 12),
            entry(7, EntryKind::Revert, 10),
            entry(8, EntryKind::Amend, 11),
            entry(9, EntryKind::Revert, 2),
            entry(10, EntryKind::Amend, 2),
        ];
        assert_eq!(next_step(AT_TEN, &entries), Step::Passed(ReaderCursor { seq: 10, ..AT_TEN }));
    }

    #[test]
    fn a_revert_takes_the_reader_one_block_back_and_is_told_once() {
        let entries = [
            entry(6, EntryKind::Revert, 9),
            entry(7, EntryKind::Revert, 8),
            entry(8, EntryKind::Apply, 8),
            entry(9, EntryKind::Revert, 8),
        ];
        let Step::Event(first) = next_step(AT_TEN, &entries) else { panic!("no event") };
        assert_eq!((first.kind, first.number, first.cursor.next), (EventKind::Revert, 9, 9));
        let Step::Event(second) = next_step(first.cursor, &entries[1..]) else { panic!("none") };
        assert_eq!((second.kind, second.number, second.cursor.seq), (EventKind::Revert, 8, 7));
        // The block that came and went meanwhile was never seen.
        let rest = next_step(second.cursor, &entries[2..]);
        assert_eq!(rest, Step::Passed(ReaderCursor { seq: 9, start: 3, next: 8 }));
    }

    #[test]
    fn a_seen_block_that_is_amended_is_told_of() {
        let entries = [entry(6, EntryKind::Amend, 4)];
        let Step::Event(event) = next_step(AT_TEN, &entries) else { panic!("no event") };
        assert_eq!((event.kind, event.number, event.cursor.next), (EventKind::Amend, 4, 10));
    }
}
