//! The id of a delivery: a UUID that follows from its stream and number, so that it is the same for every attempt
//! and leads back to the number without a table.

use alloy_primitives::hex;
use sha2::{Digest, Sha256};
use store::StreamId;

/// The last six bytes are the number, the others a hash, with the marks of version 4.
pub fn delivery_id(stream: StreamId, seq: u64) -> String {
    let mut hasher = Sha256::new();
    hasher.update(stream);
    hasher.update(seq.to_be_bytes());
    let hash: [u8; 32] = hasher.finalize().into();
    let [_, _, number @ ..] = seq.to_be_bytes();
    let mut bytes = [0; 16];
    for (byte, value) in bytes.iter_mut().zip(hash.iter().take(10).chain(&number)) {
        *byte = *value;
    }
    uuid_text(bytes)
}

/// The number that an id stands for, if it is an id of this stream.
pub fn seq_of(stream: StreamId, text: &str) -> Option<u64> {
    let number = text.get(24..)?;
    let plain = number.len() == 12 && number.bytes().all(|c| c.is_ascii_hexdigit());
    let seq = u64::from_str_radix(number, 16).ok().filter(|_| plain)?;
    (delivery_id(stream, seq) == text.to_ascii_lowercase()).then_some(seq)
}

/// For what has no number.
pub(super) fn random_id() -> String {
    uuid_text(rand::random())
}

fn uuid_text(mut bytes: [u8; 16]) -> String {
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = *version & 0x0f | 0x40;
    *variant = *variant & 0x3f | 0x80;
    let text = hex::encode(bytes);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_and_leads_back_to_its_number_in_its_stream_only() {
        let (one, other) = (StreamId::repeat_byte(1), StreamId::repeat_byte(2));
        for seq in [1, 2, 255, 65_536, (1 << 48) - 1] {
            let id = delivery_id(one, seq);
            let parts: Vec<_> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(&id[14..15], "4");
            assert!(matches!(&id[19..20], "8" | "9" | "a" | "b"), "{id}");
            assert_eq!(seq_of(one, &id), Some(seq));
            assert_eq!(seq_of(one, &id.to_uppercase()), Some(seq));
            assert_eq!(seq_of(other, &id), None);
            assert_ne!(delivery_id(other, seq), id);
        }
        for text in [
            "",
            "x",
            "00000000-0000-4000-8000-00000000000é",
            "00000000-0000-4000-8000-+00000000001",
        ] {
            assert_eq!(seq_of(one, text), None, "{text}");
        }
    }

    #[test]
    fn what_has_no_number_gets_an_id_of_its_own() {
        assert_ne!(random_id(), random_id());
        assert_eq!(random_id().len(), 36);
    }
}
