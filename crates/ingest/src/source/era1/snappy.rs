//! Snappy's framing format: chunks of at most 64 KiB, each with a checksum of what it unpacks to.

use model::raw::Malformed;

const COMPRESSED: u8 = 0x00;
const PLAIN: u8 = 0x01;
/// Chunks from here on may be passed over.
const SKIPPABLE: u8 = 0x80;
const CHUNK_BYTES_MAX: usize = 65_536;

fn wrong(why: &str) -> Malformed {
    Malformed::new("snappy data", why)
}

/// All that the chunks hold together, if it is not more than `bytes_max`.
pub fn unframe(mut input: &[u8], bytes_max: usize) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    while let Some((head, rest)) = input.split_first_chunk::<4>() {
        let [kind, low, middle, high] = *head;
        let length = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
        let chunk = rest.get(..length).ok_or_else(|| wrong("a chunk is cut short"))?;
        input = rest.get(length..).unwrap_or_default();
        match kind {
            COMPRESSED | PLAIN => {
                let (sum, data) =
                    chunk.split_first_chunk::<4>().ok_or_else(|| wrong("a chunk without a sum"))?;
                let start = out.len();
                if kind == COMPRESSED {
                    unpack(data, &mut out)?;
                } else {
                    out.extend_from_slice(data);
                }
                let unpacked = out.get(start..).unwrap_or_default();
                if masked_crc(unpacked) != u32::from_le_bytes(*sum) {
                    return Err(wrong("a chunk has another sum"));
                }
            }
            SKIPPABLE.. => {}
            _ => return Err(wrong("an unknown chunk")),
        }
        if out.len() > bytes_max {
            return Err(wrong(&format!("more than {bytes_max} bytes")));
        }
    }
    if input.is_empty() { Ok(out) } else { Err(wrong("bytes behind the last chunk")) }
}

/// One chunk: its length, then literals and copies of what was written before.
fn unpack(mut input: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    let length = take_varint(&mut input).ok_or_else(|| wrong("no length"))?;
    if length > CHUNK_BYTES_MAX {
        return Err(wrong("a chunk is too long"));
    }
    let (start, cut) = (out.len(), || wrong("a chunk ends too early"));
    while let Some((tag, rest)) = input.split_first() {
        input = rest;
        let (kind, high) = (tag & 3, usize::from(tag >> 2));
        if kind == 0 {
            let length = match high {
                60..=63 => take_number(&mut input, high - 59).ok_or_else(cut)?.saturating_add(1),
                short => short + 1,
            };
            out.extend_from_slice(input.get(..length).ok_or_else(cut)?);
            input = input.get(length..).unwrap_or_default();
        } else {
            let (length, offset) = match kind {
                1 => {
                    let low = take_number(&mut input, 1).ok_or_else(cut)?;
                    ((high & 7) + 4, (high >> 3) << 8 | low)
                }
                2 => (high + 1, take_number(&mut input, 2).ok_or_else(cut)?),
                _ => (high + 1, take_number(&mut input, 4).ok_or_else(cut)?),
            };
            copy(out, start, offset, length)?;
        }
        if out.len() - start > length {
            return Err(wrong("a chunk is longer than it says"));
        }
    }
    if out.len() - start == length { Ok(()) } else { Err(cut()) }
}

/// The copy may overlap itself: what it writes is part of what it reads.
fn copy(out: &mut Vec<u8>, start: usize, offset: usize, length: usize) -> Result<(), Malformed> {
    let from = out.len().checked_sub(offset).filter(|from| *from >= start && offset > 0);
    let Some(from) = from else { return Err(wrong("a copy of what is not there")) };
    for at in from..from + length {
        let byte = out.get(at).copied().ok_or_else(|| wrong("a copy of what is not there"))?;
        out.push(byte);
    }
    Ok(())
}

fn take_varint(input: &mut &[u8]) -> Option<usize> {
    let mut value = 0usize;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take_number(input: &mut &[u8], bytes: usize) -> Option<usize> {
    let digits = input.get(..bytes)?;
    *input = input.get(bytes..)?;
    Some(digits.iter().rev().fold(0, |number, digit| number << 8 | usize::from(*digit)))
}

/// CRC-32C, turned and shifted as the format wants it.
pub fn masked_crc(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(kind: u8, data: &[u8], sum: u32) -> Vec<u8> {
        let length = (data.len() + 4) as u32;
        let head = [&[kind], &length.to_le_bytes()[..3], &sum.to_le_bytes()[..]].concat();
        [&b"\xff\x06\x00\x00sNaPpY"[..], &head, data].concat()
    }

    #[test]
    fn literals_and_copies_are_unpacked_and_summed() {
        // "abcd", then ten bytes from four back, which overlap themselves.
        let packed = [14, 3 << 2, b'a', b'b', b'c', b'd', 9 << 2 | 2, 4, 0];
        let expected = b"abcdabcdabcdab";
        let good = framed(COMPRESSED, &packed, masked_crc(expected));
        assert_eq!(unframe(&good, 100).unwrap(), expected);
        assert_eq!(unframe(&framed(PLAIN, expected, masked_crc(expected)), 14).unwrap(), expected);
        for odd in [
            framed(COMPRESSED, &packed, 7),
            framed(COMPRESSED, &packed[..6], masked_crc(b"abcd")),
            framed(COMPRESSED, &[4, 1, 9], 0),
            framed(2, expected, masked_crc(expected)),
            good[..good.len() - 1].to_vec(),
            [good.as_slice(), &[0]].concat(),
        ] {
            assert!(unframe(&odd, 100).is_err(), "{odd:02x?}");
        }
        assert!(unframe(&good, 13).is_err());
        // As RFC 3720 has it, before the mask is undone.
        let crc = masked_crc(&[0; 32]).wrapping_sub(0xa282_ead8).rotate_left(15);
        assert_eq!(crc, 0x8a91_36aa);
    }
}
