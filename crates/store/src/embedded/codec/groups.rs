//! Neighbouring transactions of a block share a row: a key costs more to write and to find than the
//! bytes behind it.
//!
//! A group is a run of parts, each with its length in front; nothing stands for a part that is empty.

use super::bytes::{put_counted, take_counted};

/// Transactions to a row. More would make reading one of them dearer than writing saves.
pub const GROUP: u32 = 16;

/// The number of a transaction's group within its block.
pub fn of(index: u32) -> u32 {
    index / GROUP
}

/// How many groups a block of so many transactions has.
pub fn count(txs: u32) -> u32 {
    txs.div_ceil(GROUP)
}

pub fn put(out: &mut Vec<u8>, part: &[u8]) {
    put_counted(out, part);
}

/// The next part; `None` where the bytes are not a group's.
pub fn take<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    take_counted(input)
}

/// The part of the transaction at `index`; none where the group ends before it.
pub fn part_of(mut input: &[u8], index: u32) -> Option<&[u8]> {
    for _ in 0..index % GROUP {
        take(&mut input)?;
    }
    take(&mut input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_again_and_none_beyond() {
        let parts: [&[u8]; 3] = [b"one", b"", &[7; 300]];
        let mut row = Vec::new();
        parts.iter().for_each(|part| put(&mut row, part));
        for (i, part) in parts.iter().enumerate() {
            assert_eq!(part_of(&row, GROUP + i as u32), Some(*part));
        }
        assert_eq!(part_of(&row, 3), None);
        assert_eq!(part_of(&[0x80], 0), None);
        assert_eq!((count(0), count(16), count(17), of(16)), (0, 1, 2, 1));
    }
}
