//! Appending RLP items to a buffer, and wrapping a buffer as a list.

use alloy_primitives::{Address, U256};
use alloy_rlp::{Encodable, Header};

/// The zero-length string, which is also zero and "no address".
pub const EMPTY: u8 = alloy_rlp::EMPTY_STRING_CODE;

pub fn put_uint(out: &mut Vec<u8>, value: U256) {
    value.encode(out);
}

/// A creation has no receiver and writes an empty string.
pub fn put_to(out: &mut Vec<u8>, to: Option<Address>) {
    match to {
        Some(address) => address.encode(out),
        None => out.push(EMPTY),
    }
}

pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    bytes.encode(out);
}

/// Runs `fill` on the end of `out` and puts a list header in front of what it wrote.
pub fn put_list(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    // Most lists are longer than 255 bytes and shorter than 64 KiB: three bytes of header.
    out.extend_from_slice(&[0; ROOM]);
    fill(out);
    let payload_length = out.len() - start - ROOM;
    let mut header = [0u8; 9];
    let mut rest = header.as_mut_slice();
    Header { list: true, payload_length }.encode(&mut rest);
    let length = 9 - rest.len();
    let header = header.get(..length).unwrap_or_default();
    if length == ROOM {
        if let Some(place) = out.get_mut(start..start + ROOM) {
            place.copy_from_slice(header);
        }
    } else {
        out.splice(start..start + ROOM, header.iter().copied());
    }
}

const ROOM: usize = 3;
