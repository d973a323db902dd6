//! Files of the history before the merge (`.era1`): headers, bodies and receipts, packed, 8192 blocks a file.
//!
//! In: the file. Out: blocks with receipts, as a node would say them. What a file says of total difficulty, and its
//! index, are passed over: blocks are verified by their own hashes and roots.

mod entries;
mod receipts_json;
mod snappy;
#[cfg(test)]
mod tests;

use std::io::Read;

use model::raw::{Block, Malformed, Receipt};
use serde_json::Value;

use super::rlp::{RlpError, block_json_of_parts};
use entries::{Entries, Kind};
use receipts_json::receipts_json;
use snappy::unframe;

/// Gives blocks until the file ends or can no longer be read.
pub struct Era1Blocks<R> {
    entries: Entries<R>,
    bytes_max: usize,
    is_over: bool,
}

fn wrong(why: &str) -> Malformed {
    Malformed::new("era1 file", why)
}

impl<R: Read> Era1Blocks<R> {
    pub fn new(input: R, bytes_max: usize) -> Self {
        Era1Blocks { entries: Entries::new(input, bytes_max), bytes_max, is_over: false }
    }

    /// The next entry of this kind, unpacked; none at the end.
    fn take(&mut self, wanted: Kind) -> Result<Option<Vec<u8>>, RlpError> {
        while let Some((kind, data)) = self.entries.take_next()? {
            match kind {
                Kind::Other => {}
                kind if kind == wanted => return Ok(Some(unframe(&data, self.bytes_max)?)),
                _ => return Err(wrong("header, body and receipts are not in their order").into()),
            }
        }
        Ok(None)
    }

    fn take_block(&mut self) -> Result<Option<Block>, RlpError> {
        let Some(header) = self.take(Kind::Header)? else { return Ok(None) };
        let cut = || wrong("the file ends within a block");
        let body = self.take(Kind::Body)?.ok_or_else(cut)?;
        let receipts = self.take(Kind::Receipts)?.ok_or_else(cut)?;
        Ok(Some(block_of(&header, &body, &receipts)?))
    }
}

fn block_of(header: &[u8], body: &[u8], receipts: &[u8]) -> Result<Block, Malformed> {
    let json = block_json_of_parts(header, body)?;
    let receipts = Value::Array(receipts_json(receipts, &json)?).to_string();
    let block = Block::read(json.to_string().as_bytes())?;
    let mut block = block.ok_or_else(|| wrong("no block"))?;
    let receipts: Vec<Receipt> =
        serde_json::from_str(&receipts).map_err(|error| wrong(&error.to_string()))?;
    block.set_receipts(receipts)?;
    Ok(block)
}

impl<R: Read> Iterator for Era1Blocks<R> {
    type Item = Result<Block, RlpError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.take_block().transpose();
        // Where the next one begins is not known.
        self.is_over = matches!(next, None | Some(Err(_)));
        next
    }
}
