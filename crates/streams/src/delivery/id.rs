//! The id of a delivery: a UUID that follows from its stream and number, so that it is the same for every attempt
//! and leads back to the number without a table.

use ring::digest::{Context, SHA256};
use store::StreamId;

use crate::uuid::{uuid_text, version_4};

/// The last six bytes are the number, the others a hash, with the marks of version 4.
pub fn delivery_id(stream: StreamId, seq: u64) -> String {
    let mut hasher = Context::new(&SHA256);
    hasher.update(stream.as_slice());
    hasher.update(&seq.to_be_bytes());
    let hash = hasher.finish();
    let [_, _, number @ ..] = seq.to_be_bytes();
    let mut bytes = [0; 16];
    for (byte, value) in bytes.iter_mut().zip(hash.as_ref().iter().take(10).chain(&number)) {
        *byte = *value;
    }
    uuid_text(&version_4(bytes))
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
    uuid_text(&version_4(rand::random()))
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
