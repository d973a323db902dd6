//! Hexadecimal texts in JSON as the bytes that they stand for: webhooks are full of hashes, addresses and call data, which take
//! half of the room so, and which packing would have to look at in vain.

use alloy_primitives::hex;
use memchr::memchr;
use memchr::memmem::find_iter;

use crate::embedded::codec::{put_varint, take_varint};

/// Stands where a run was. JSON has no such byte.
const MARK: u8 = 1;
/// What hexadecimal texts of a chain begin with.
const OPENING: &[u8] = b"\"0x";
/// Shorter runs gain nothing.
const DIGITS_MIN: usize = 16;

/// None where the text has the mark itself.
pub fn with_runs_packed(text: &[u8]) -> Option<Vec<u8>> {
    if memchr(MARK, text).is_some() {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for at in find_iter(text, OPENING) {
        let from = at + OPENING.len();
        let rest = text.get(from..).unwrap_or_default();
        let Some(digits) = memchr(b'"', rest).and_then(|end| rest.get(..end)) else { break };
        let before = text.get(copied..from).unwrap_or_default();
        if put_run(&mut out, before, digits) {
            copied = from + digits.len();
        }
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    Some(out)
}

/// What stands before the digits, then what they stand for. False, and nothing is put, where they cannot be made again of it.
fn put_run(out: &mut Vec<u8>, before: &[u8], digits: &[u8]) -> bool {
    let is_plain = digits.len() >= DIGITS_MIN && digits.len().is_multiple_of(2);
    if !is_plain || digits.iter().any(u8::is_ascii_uppercase) {
        return false;
    }
    let (start, bytes) = (out.len(), digits.len() / 2);
    out.extend_from_slice(before);
    out.push(MARK);
    put_varint(out, bytes as u64);
    let at = out.len();
    out.resize(at + bytes, 0);
    let room = out.get_mut(at..).unwrap_or_default();
    let is_hex = hex::decode_to_slice(digits, room).is_ok();
    if !is_hex {
        out.truncate(start);
    }
    is_hex
}

/// The text, which has so many bytes. None where it is damaged.
pub fn with_runs_unpacked(mut packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let rest = &mut packed;
    let mut out = Vec::with_capacity(bytes);
    while let Some(at) = memchr(MARK, rest) {
        out.extend_from_slice(rest.get(..at)?);
        *rest = rest.get(at + 1..)?;
        let run = usize::try_from(take_varint(rest)?).ok()?;
        let (run, behind) = rest.split_at_checked(run)?;
        let at = out.len();
        // Never more than was announced, whatever the runs say.
        let end = at.checked_add(run.len().checked_mul(2)?).filter(|end| *end <= bytes)?;
        out.resize(end, 0);
        hex::encode_to_slice(run, out.get_mut(at..)?).ok()?;
        *rest = behind;
    }
    out.extend_from_slice(rest);
    (out.len() == bytes).then_some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed_bytes(text: &str) -> usize {
        let packed = with_runs_packed(text.as_bytes()).unwrap();
        let unpacked = with_runs_unpacked(&packed, text.len());
        assert_eq!(unpacked.as_deref(), Some(text.as_bytes()), "{text}");
        packed.len()
    }

    #[test]
    fn runs_take_half_and_what_could_not_be_written_again_stays() {
        let hash = "ddf252ad1be2c89b".repeat(4);
        let text = format!(r#"{{"hash":"0x{hash}","data":"0x{hash}{hash}"}}"#);
        assert_eq!(packed_bytes(&text), text.len() - 3 * 64 + 3 * 32 + 4);
        for stays in [
            r#""0xddf252ad1be2c8""#.to_owned(),
            format!(r#""0x{hash}0""#),
            format!(r#""0x{}""#, hash.to_uppercase()),
            format!(r#""0x0x{hash}""#),
            format!(r#""0xg{hash}f""#),
            format!(r#""0x{hash}"#),
            hash.clone(),
            String::new(),
        ] {
            assert_eq!(packed_bytes(&stays), stays.len(), "{stays}");
        }
        assert_eq!(with_runs_packed(b"\x01"), None);
    }

    proptest! {
        #[test]
        fn texts_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            parts in prop::collection::vec("[ -~]{0,9}|\"0x[0-9a-fA-F]{0,40}\"", 0..20),
            bytes in prop::collection::vec(any::<u8>(), 0..90),
            announced in 0usize..200,
        ) {
            let text = parts.concat();
            let packed = with_runs_packed(text.as_bytes()).unwrap();
            let unpacked = with_runs_unpacked(&packed, text.len());
            prop_assert_eq!(unpacked.as_deref(), Some(text.as_bytes()));
            prop_assert_eq!(with_runs_unpacked(&packed, text.len() + 1), None);
            let _ = with_runs_unpacked(&bytes, announced);
        }
    }
}
