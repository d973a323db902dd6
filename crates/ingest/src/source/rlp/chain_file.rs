//! A file of blocks, one behind the other, as `geth export` writes it.

use std::io::{BufRead, Read};

use model::raw::{Block, Malformed};

use super::block_json::block_json;
use super::item::malformed;

/// Gives blocks until the file ends or can no longer be read.
pub struct RlpBlocks<R> {
    input: R,
    block_bytes_max: usize,
    is_over: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum RlpError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl<R: BufRead> RlpBlocks<R> {
    pub fn new(input: R, block_bytes_max: usize) -> Self {
        RlpBlocks { input, block_bytes_max, is_over: false }
    }

    /// The next block's bytes; none at the end.
    fn take(&mut self) -> Result<Option<Vec<u8>>, RlpError> {
        let Some(first) = self.input.fill_buf()?.first().copied() else { return Ok(None) };
        let length_bytes = match first {
            0xf8.. => usize::from(first - 0xf7),
            0xc0.. => 0,
            _ => return Err(malformed("no list where a block should begin").into()),
        };
        let mut block = vec![0; 1 + length_bytes];
        self.input.read_exact(&mut block)?;
        let length = match block.get(1..).unwrap_or_default() {
            [] => usize::from(first - 0xc0),
            digits => digits
                .iter()
                .try_fold(0usize, |length, digit| {
                    length.checked_mul(256)?.checked_add(usize::from(*digit))
                })
                .unwrap_or(usize::MAX),
        };
        if length > self.block_bytes_max {
            let why =
                format!("a block of {length} bytes; at most {} are taken", self.block_bytes_max);
            return Err(malformed(&why).into());
        }
        let head = block.len();
        // Not more than the file has, whatever it says.
        let read = (&mut self.input).take(length as u64).read_to_end(&mut block)?;
        if read != length || block.len() != head + length {
            return Err(malformed("the file ends within a block").into());
        }
        Ok(Some(block))
    }
}

impl<R: BufRead> Iterator for RlpBlocks<R> {
    type Item = Result<Block, RlpError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let encoded = match self.take() {
            Ok(encoded) => encoded?,
            Err(error) => {
                // Where the next one begins is not known.
                self.is_over = true;
                return Some(Err(error));
            }
        };
        let block = block_json(&encoded).and_then(|json| {
            Block::read(json.to_string().as_bytes())?.ok_or_else(|| malformed("no block"))
        });
        Some(block.map_err(RlpError::from))
    }
}
