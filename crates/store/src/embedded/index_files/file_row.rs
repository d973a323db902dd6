//! The engine's row of an index file: which blocks of a chain it has the rows of, and what it must be to be trusted.

use model::chain::ChainId;

use super::entries::PartAt;
use crate::coverage::Coverage;
use crate::embedded::codec::{pack_coverage, put_varint, take_varint, unpack_coverage};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFileRow {
    pub chain: ChainId,
    /// How often its rows were merged.
    pub level: u8,
    pub shape: FileShape,
    /// Blocks whose rows are in it, also those that count no more.
    pub written_blocks: u64,
    /// The blocks whose rows count. Rows of all others are passed over.
    pub blocks: Coverage,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileShape {
    pub bytes: u64,
    /// Of the whole file.
    pub hash: u128,
    /// Blocks are numbered from this one.
    pub lowest: u64,
    /// As in `RunTable::ALL`.
    pub tables: [TableShape; 4],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableShape {
    pub rows: u64,
    /// Parts that hold rows.
    pub parts: u64,
    /// The list of lists of these.
    pub root: PartAt,
}

impl IndexFileRow {
    pub fn rows(&self) -> u64 {
        self.shape.tables.iter().map(|table| table.rows).sum()
    }

    pub fn is_all_alive(&self) -> bool {
        self.blocks.blocks() == self.written_blocks
    }

    /// Whether more of it is dead than alive.
    pub fn is_mostly_dead(&self) -> bool {
        self.blocks.blocks() < self.written_blocks / 2
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        put_varint(&mut out, self.chain.0);
        out.push(self.level);
        put_varint(&mut out, self.shape.bytes);
        out.extend_from_slice(&self.shape.hash.to_be_bytes());
        put_varint(&mut out, self.shape.lowest);
        for table in &self.shape.tables {
            put_varint(&mut out, table.rows);
            put_varint(&mut out, table.parts);
            table.root.put(&mut out);
        }
        put_varint(&mut out, self.written_blocks);
        out.extend(pack_coverage(&self.blocks));
        out
    }

    pub fn unpack(mut row: &[u8]) -> Option<Self> {
        let input = &mut row;
        let chain = ChainId(take_varint(input)?);
        let (level, rest) = input.split_first()?;
        *input = rest;
        let bytes = take_varint(input)?;
        let (hash, rest) = input.split_first_chunk::<16>()?;
        *input = rest;
        let (hash, lowest) = (u128::from_be_bytes(*hash), take_varint(input)?);
        let mut tables = [TableShape::default(); 4];
        for table in &mut tables {
            let (rows, parts) = (take_varint(input)?, take_varint(input)?);
            *table = TableShape { rows, parts, root: PartAt::take(input)? };
        }
        let written_blocks = take_varint(input)?;
        let blocks = unpack_coverage(input)?;
        let shape = FileShape { bytes, hash, lowest, tables };
        Some(IndexFileRow { chain, level: *level, shape, written_blocks, blocks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let table =
            TableShape { rows: 70_000, parts: 9, root: PartAt { offset: 1 << 33, bytes: 40 } };
        let shape =
            FileShape { bytes: 1 << 34, hash: u128::MAX - 5, lowest: 17, tables: [table; 4] };
        let blocks = Coverage::from_ranges(vec![(17, 20), (40, 90)]);
        let row = IndexFileRow { chain: ChainId(1), level: 3, shape, written_blocks: 60, blocks };
        let packed = row.pack();
        assert!(!row.is_all_alive() && !row.is_mostly_dead());
        assert_eq!(IndexFileRow::unpack(&packed), Some(row));
        for end in 0..60 {
            assert_eq!(IndexFileRow::unpack(&packed[..end]), None, "{end}");
        }
    }
}
