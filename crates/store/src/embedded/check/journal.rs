//! The journal: no entry is missing, and what it says last of a block is how it is.

use std::collections::HashMap;

use alloy_primitives::B256;

use super::ChainCheck;
use crate::Error;
use crate::check::CheckedPart;
use crate::journal::EntryKind;

const ENTRIES_AT_ONCE: usize = 4096;
/// Blocks whose last entry is remembered; a journal that a slow reader holds may be far longer.
const BLOCKS_MAX: usize = 4_000_000;

impl ChainCheck<'_> {
    pub fn journal(&mut self) {
        let mut part = self.part("journal");
        if let Err(error) = self.walk_journal(&mut part) {
            part.fault(error.to_string());
        }
        if let Err(error) = self.view.readers(self.chain) {
            part.fault(error.to_string());
        }
        self.parts.push(part);
    }

    fn walk_journal(&self, part: &mut CheckedPart) -> Result<(), Error> {
        let (view, chain) = (self.view, self.chain);
        let newest = view.version(chain)?.seq;
        // Pruning takes a sequence number and leaves no entry.
        let pruned = view.last_pruned(chain)?.map(|pruned| pruned.next);
        let mut seq = view.journal_tail(chain)?.saturating_sub(1);
        let mut last: HashMap<u64, (EntryKind, B256)> = HashMap::new();
        loop {
            let entries = view.journal_after(chain, seq, ENTRIES_AT_ONCE)?;
            let Some(end) = entries.last().map(|entry| entry.seq) else { break };
            for entry in entries {
                part.count += 1;
                if entry.seq != seq + 1 && pruned.is_none() {
                    part.fault(format!("entries {} to {} are missing", seq + 1, entry.seq - 1));
                }
                seq = entry.seq;
                if last.len() < BLOCKS_MAX || last.contains_key(&entry.number) {
                    last.insert(entry.number, (entry.kind, entry.hash));
                }
            }
            seq = end;
        }
        if seq != newest && pruned.is_none() {
            part.fault(format!("it ends at entry {seq}, and the newest is {newest}"));
        }
        for (number, (kind, hash)) in last {
            let stored = view.block_summary(chain, number)?.map(|block| block.hash);
            let expected = (kind != EntryKind::Revert).then_some(hash);
            let is_pruned = pruned.is_some_and(|next| number < next) && stored.is_none();
            if stored != expected && !is_pruned {
                part.fault(format!("block {number} is not as the journal says last"));
            }
        }
        Ok(())
    }
}
