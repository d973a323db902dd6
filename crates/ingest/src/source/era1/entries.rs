//! The entries of an e2store file: a kind, a length, and as many bytes.

use std::io::Read;

use crate::source::rlp::RlpError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Header,
    Body,
    Receipts,
    /// Version, total difficulty, accumulator, index.
    Other,
}

pub struct Entries<R> {
    input: R,
    bytes_max: usize,
}

const HEAD_BYTES: usize = 8;

impl<R: Read> Entries<R> {
    pub fn new(input: R, bytes_max: usize) -> Self {
        Entries { input, bytes_max }
    }

    /// None at the end.
    pub fn take_next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, RlpError> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        (&mut self.input).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        if head.is_empty() {
            return Ok(None);
        }
        let cut = || super::wrong("an entry is cut short");
        let head: [u8; HEAD_BYTES] = head.try_into().map_err(|_| cut())?;
        let [kind_low, kind_high, a, b, c, d, _, _] = head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > self.bytes_max {
            let why = format!("an entry of {length} bytes; at most {} are taken", self.bytes_max);
            return Err(super::wrong(&why).into());
        }
        let mut data = Vec::new();
        (&mut self.input).take(length as u64).read_to_end(&mut data)?;
        if data.len() != length {
            return Err(cut().into());
        }
        let kind = match u16::from_le_bytes([kind_low, kind_high]) {
            3 => Kind::Header,
            4 => Kind::Body,
            5 => Kind::Receipts,
            _ => Kind::Other,
        };
        Ok(Some((kind, data)))
    }
}
