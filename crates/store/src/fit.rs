//! Which blocks of a change are new, and whether each hangs together with its neighbours. The same for every engine.

use alloy_primitives::map::{HashMap, HashSet};
use alloy_primitives::{B256, map::hash_map::Entry};

use crate::Error;
use crate::block::BlockHead;
use crate::change::ChangeOf;

/// The chain as it is stored, by block number.
pub struct StoredChain<'a> {
    pub hash: &'a dyn Fn(u64) -> Result<Option<B256>, Error>,
    pub parent_hash: &'a dyn Fn(u64) -> Result<Option<B256>, Error>,
}

/// One flag per block of the change: whether it is to be written. A block that is stored already,
/// or stands twice in the change, is not.
pub fn blocks_to_write(
    stored: &StoredChain,
    change: &ChangeOf<BlockHead>,
) -> Result<Vec<bool>, Error> {
    let reverted = reverted(stored, change)?;
    let mut applied: HashMap<u64, BlockHead> = HashMap::default();
    let mut flags = Vec::with_capacity(change.apply.len());
    for block in &change.apply {
        let is_new = match applied.entry(block.number) {
            Entry::Vacant(place) => {
                place.insert(*block);
                true
            }
            Entry::Occupied(known) => {
                same(known.get().hash, block)?;
                false
            }
        };
        flags.push(is_new);
    }
    let after = ChainAfterChange { stored, reverted, applied };
    for (block, is_new) in change.apply.iter().zip(&mut flags) {
        *is_new = *is_new && after.is_new(block)?;
    }
    Ok(flags)
}

/// From the top of a range down, newest first, so that nothing is left hanging above a hole.
fn reverted(stored: &StoredChain, change: &ChangeOf<BlockHead>) -> Result<HashSet<u64>, Error> {
    let mut reverted = HashSet::<u64>::default();
    for number in change.revert.iter().copied() {
        if let Some(above) = number.checked_add(1)
            && !reverted.contains(&above)
            && let Some(expected) = (stored.parent_hash)(above)?
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
pub fn check_amends(stored: &StoredChain, change: &ChangeOf<BlockHead>) -> Result<(), Error> {
    let mut gone_or_amended: HashSet<u64> = change.revert.iter().copied().collect();
    for BlockHead { number, hash, .. } in change.amend.iter().chain(&change.untrace) {
        let is_stored = (stored.hash)(*number)?.is_some_and(|stored| stored == *hash);
        if !is_stored || !gone_or_amended.insert(*number) {
            return Err(Error::NotStored { number: *number });
        }
    }
    Ok(())
}

/// What is stored of a block, and what is to take its place.
pub fn check_loses_nothing(stored: &BlockHead, block: &BlockHead) -> Result<(), Error> {
    let loses_traces = stored.has_traces && !block.has_traces;
    if loses_traces || block.receipt_count < stored.receipt_count {
        return Err(Error::NotStored { number: block.number });
    }
    Ok(())
}

pub fn check_loses_traces_only(stored: &BlockHead, block: &BlockHead) -> Result<(), Error> {
    if block.has_traces || block.receipt_count != stored.receipt_count {
        return Err(Error::NotStored { number: block.number });
    }
    Ok(())
}

fn same(stored: B256, block: &BlockHead) -> Result<(), Error> {
    if stored == block.hash {
        Ok(())
    } else {
        Err(Error::Occupied { number: block.number, stored })
    }
}

/// The chain as it will be after the change.
struct ChainAfterChange<'a> {
    stored: &'a StoredChain<'a>,
    reverted: HashSet<u64>,
    applied: HashMap<u64, BlockHead>,
}

impl ChainAfterChange<'_> {
    fn is_new(&self, block: &BlockHead) -> Result<bool, Error> {
        let number = block.number;
        if let Some(stored) = self.stored_hash(number)? {
            same(stored, block)?;
            return Ok(false);
        }
        if let Some(below) = number.checked_sub(1)
            && let Some(expected) = self.hash(below)?.filter(|hash| *hash != block.parent_hash)
        {
            let got = block.parent_hash;
            return Err(Error::Detached { number, neighbour: below, expected, got });
        }
        if let Some(above) = number.checked_add(1)
            && let Some(expected) = self.parent_hash(above)?.filter(|hash| *hash != block.hash)
        {
            let got = block.hash;
            return Err(Error::Detached { number, neighbour: above, expected, got });
        }
        Ok(true)
    }

    fn stored_hash(&self, number: u64) -> Result<Option<B256>, Error> {
        if self.reverted.contains(&number) { Ok(None) } else { (self.stored.hash)(number) }
    }

    fn hash(&self, number: u64) -> Result<Option<B256>, Error> {
        match self.applied.get(&number) {
            Some(block) => Ok(Some(block.hash)),
            None => self.stored_hash(number),
        }
    }

    fn parent_hash(&self, number: u64) -> Result<Option<B256>, Error> {
        match self.applied.get(&number) {
            Some(block) => Ok(Some(block.parent_hash)),
            None if self.reverted.contains(&number) => Ok(None),
            None => (self.stored.parent_hash)(number),
        }
    }
}
