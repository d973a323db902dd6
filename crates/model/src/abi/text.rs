//! Texts that contracts give: names and symbols.

use super::{WORD, Words};

/// Bytes of a text that are looked at; contracts may send any number.
const TEXT_BYTES_MAX: usize = 1024;

/// A `string`, or the `bytes32` that the first tokens gave instead; made safe to show.
pub fn text(data: &[u8]) -> Option<String> {
    let bytes = if data.len() == WORD {
        data.split(|byte| *byte == 0).next()?
    } else {
        let string = Words(data).inner(0)?;
        let length = string.size(0)?.min(TEXT_BYTES_MAX);
        let content = string.after(1)?.0;
        content.get(..length).unwrap_or(content)
    };
    crate::token::plain_text(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::abi::push_uint;

    #[test]
    fn texts_are_read_in_both_forms() {
        let mut string = Vec::new();
        push_uint(&mut string, 0x20);
        push_uint(&mut string, 4);
        string.extend_from_slice(b"Test");
        string.resize(96, 0);
        let mut bytes32 = b"Maker".to_vec();
        bytes32.resize(32, 0);
        assert_eq!(text(&string).as_deref(), Some("Test"));
        assert_eq!(text(&bytes32).as_deref(), Some("Maker"));
        let mut broken = vec![0xffu8; 32];
        assert_eq!(text(&broken), None, "no text at all");
        broken.extend_from_slice(&[0xff; 64]);
        assert_eq!(text(&broken), None, "a place that does not exist");
        let mut endless = Vec::new();
        push_uint(&mut endless, 0x20);
        push_uint(&mut endless, 1 << 40);
        endless.extend_from_slice(&[b'x'; 5000]);
        assert!(text(&endless).is_some_and(|text| text.len() <= 96));
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(
            data in proptest::collection::vec(any::<u8>(), 0..300),
            small in proptest::collection::vec(0usize..6, 0..12),
        ) {
            let _ = text(&data);
            // Small numbers where places and lengths stand reach further in.
            let mut words = Vec::new();
            small.iter().for_each(|n| push_uint(&mut words, n * WORD));
            let _ = text(&words);
        }
    }
}
