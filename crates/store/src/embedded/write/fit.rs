//! Which blocks of a change are new, and whether each hangs together with its neighbours.

use alloy_primitives::map::{HashMap, HashSet};
use alloy_primitives::{B256, map::hash_map::Entry};
use model::chain::ChainId;

use super::block_rows::PackedBlock;
use crate::Error;
use crate::block::BlockHead;
use crate::change::ChangeOf;
use crate::embedded::read::View;

/// One flag per block of the change: whether it is to be written. A block that is stored already,
/// or stands twice in the change, is not.
pub fn blocks_to_write(
    view: &View,
    chain: ChainId,
    change: &ChangeOf<PackedBlock>,
) -> Result<Vec<bool>, Error> {
    let reverted = reverted(view, chain, change)?;
    let mut applied: HashMap<u64, &PackedBlock> = HashMap::default();
    let mut flags = Vec::with_capacity(change.apply.len());
    for block in &change.apply {
        let is_new = match applied.entry(block.head.number) {
            Entry::Vacant(place) => {
                place.insert(block);
                true
            }
            Entry::Occupied(known) => {
                same(known.get().head.hash, block)?;
                false
            }
        };
        flags.push(is_new);
    }
    let after = ChainAfterChange { view, chain, reverted, applied };
    for (block, is_new) in change.apply.iter().zip(&mut flags) {
        *is_new = *is_new && after.is_new(block)?;
    }
    Ok(flags)
}

/// From the top of a range down, newest first, so that nothing is left hanging above a hole.
fn reverted(
    view: &View,
    chain: ChainId,
    change: &ChangeOf<PackedBlock>,
) -> Result<HashSet<u64>, Error> {
    let mut reverted = HashSet::<u64>::default();
    for number in change.revert.iter().copied() {
        if let Some(above) = number.checked_add(1)
            && !reverted.contains(&above)
            && let Some(expected) = view.parent_hash(chain, above)?
        {
            let got = B256::ZERO;
            return Err(Error::Detached { number: above, neighbour: number, expected, got });
        }
        if !reverted.insert(number) {
            return Err(Error::NotStored { number });
        }
    }
    Ok(reverted)
}

/// Whether every block to be amended is stored with the same hash, and stays so.
pub fn check_amends(
    view: &View,
    chain: ChainId,
    change: &ChangeOf<PackedBlock>,
) -> Result<(), Error> {
    let mut gone_or_amended: HashSet<u64> = change.revert.iter().copied().collect();
    let amended = change.amend.iter().chain(&change.untrace);
    for PackedBlock { head: BlockHead { number, hash, .. }, .. } in amended {
        let stored = view.block_summary(chain, *number)?;
        let is_stored = stored.is_some_and(|stored| stored.hash == *hash);
        if !is_stored || !gone_or_amended.insert(*number) {
            return Err(Error::NotStored { number: *number });
        }
    }
    Ok(())
}

pub fn check_loses_nothing(stored: &PackedBlock, block: &PackedBlock) -> Result<(), Error> {
    let loses_traces = stored.head.has_traces && !block.head.has_traces;
    if loses_traces || block.head.receipt_count < stored.head.receipt_count {
        return Err(Error::NotStored { number: block.head.number });
    }
    Ok(())
}

pub fn check_loses_traces_only(stored: &PackedBlock, block: &PackedBlock) -> Result<(), Error> {
    if block.head.has_traces || block.head.receipt_count != stored.head.receipt_count {
        return Err(Error::NotStored { number: block.head.number });
    }
    Ok(())
}

fn same(stored: B256, block: &PackedBlock) -> Result<(), Error> {
    if stored == block.head.hash {
        Ok(())
    } else {
        Err(Error::Occupied { number: block.head.number, stored })
    }
}

/// The chain as it will be after the change.
struct ChainAfterChange<'a> {
    view: &'a View,
    chain: ChainId,
    reverted: HashSet<u64>,
    applied: HashMap<u64, &'a PackedBlock>,
}

impl ChainAfterChange<'_> {
    fn is_new(&self, block: &PackedBlock) -> Result<bool, Error> {
        let number = block.head.number;
        if let Some(stored) = self.stored_hash(number)? {
            same(stored, block)?;
            return Ok(false);
        }
        if let Some(below) = number.checked_sub(1)
            && let Some(expected) = self.hash(below)?.filter(|hash| *hash != block.head.parent_hash)
        {
            let got = block.head.parent_hash;
            return Err(Error::Detached { number, neighbour: below, expected, got });
        }
        if let Some(above) = number.checked_add(1)
            && let Some(expected) = self.parent_hash(above)?.filter(|hash| *hash != block.head.hash)
        {
            let got = block.head.hash;
            return Err(Error::Detached { number, neighbour: above, expected, got });
        }
        Ok(true)
    }

    fn stored_hash(&self, number: u64) -> Result<Option<B256>, Error> {
        if self.reverted.contains(&number) {
            return Ok(None);
        }
        Ok(self.view.block_summary(self.chain, number)?.map(|block| block.hash))
    }

    fn hash(&self, number: u64) -> Result<Option<B256>, Error> {
        match self.applied.get(&number) {
            Some(block) => Ok(Some(block.head.hash)),
            None => self.stored_hash(number),
        }
    }

    fn parent_hash(&self, number: u64) -> Result<Option<B256>, Error> {
        match self.applied.get(&number) {
            Some(block) => Ok(Some(block.head.parent_hash)),
            None if self.reverted.contains(&number) => Ok(None),
            None => self.view.parent_hash(self.chain, number),
        }
    }
}
