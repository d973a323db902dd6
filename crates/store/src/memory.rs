//! How the memory of a store is shared out: what was read, and what waits to be written.

/// Less than this is taken as this.
const BYTES_MIN: u64 = 16 << 20;
/// Smaller ones make many small files.
const MEMTABLE_BYTES_MIN: u64 = 16 << 20;

/// The shares of one budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Parts of tables that were read.
    pub tables_cache: u64,
    /// The same of index files.
    pub index_cache: u64,
    /// Unpacked bodies of blocks.
    pub bodies_cache: u64,
    /// Transactions that pages read.
    pub txs_cache: u64,
    /// Index rows that are written into a file at once. Three times as much can be in memory: while these are
    /// written, a commit waits only for the third part.
    pub run: u64,
    /// What one table collects before it is written to a file. All tables together are bounded by the engine's log.
    pub memtable: u64,
}

impl Memory {
    pub fn of(bytes: u64) -> Self {
        let bytes = bytes.max(BYTES_MIN);
        let parts = |n: u64| bytes / 32 * n;
        Memory {
            tables_cache: parts(5),
            index_cache: parts(4),
            bodies_cache: parts(3),
            txs_cache: parts(1),
            run: parts(4),
            memtable: parts(1).max(MEMTABLE_BYTES_MIN),
        }
    }
}

/// A part of the budget, and what it takes at this moment.
#[derive(Clone, Copy, Debug)]
pub struct MemoryUse {
    pub part: &'static str,
    pub bytes: u64,
    /// Where a write waits, or something that was kept is dropped.
    pub bytes_max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_within_the_budget_with_an_eighth_left_for_the_log_and_for_blocks_under_way() {
        for bytes in [64 << 20, 512 << 20, 8 << 30] {
            let memory = Memory::of(bytes);
            let bodies = memory.bodies_cache + memory.txs_cache;
            let caches = memory.tables_cache + memory.index_cache + bodies;
            let all = caches + 3 * memory.run;
            assert!(all <= bytes - bytes / 8, "{bytes}: {memory:?}");
        }
        assert_eq!(Memory::of(0), Memory::of(BYTES_MIN));
    }
}
