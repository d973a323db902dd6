//! Snappy's framing format, read as far as is allowed.

use std::io::Read;

use model::raw::Malformed;
use snap::read::FrameDecoder;

/// All that the chunks hold together, if it is not more than `bytes_max`.
pub fn unframe(input: &[u8], bytes_max: usize) -> Result<Vec<u8>, Malformed> {
    let wrong = |why: String| Malformed::new("snappy data", &why);
    let mut out = Vec::new();
    let mut chunks = FrameDecoder::new(input).take(bytes_max as u64 + 1);
    chunks.read_to_end(&mut out).map_err(|error| wrong(error.to_string()))?;
    if out.len() > bytes_max {
        return Err(wrong(format!("more than {bytes_max} bytes")));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn framed(data: &[u8]) -> Vec<u8> {
        let mut packer = snap::write::FrameEncoder::new(Vec::new());
        packer.write_all(data).unwrap();
        packer.into_inner().unwrap()
    }

    #[test]
    fn what_was_packed_comes_back_whole_or_not_at_all() {
        let data = b"0123456789abcdef".repeat(9_000);
        let framed = framed(&data);
        assert!(framed.len() < data.len() / 2);
        assert_eq!(unframe(&framed, data.len()).unwrap(), data);
        let too_long = unframe(&framed, data.len() - 1).unwrap_err().to_string();
        assert!(too_long.contains("more than 143999 bytes"), "{too_long}");
        assert!(unframe(&framed[..framed.len() - 1], data.len()).is_err(), "cut short");
        assert!(unframe(b"\x00\x00\x00\x00", data.len()).is_err(), "without its beginning");
        let mut changed = framed.clone();
        // Behind ten bytes of beginning and the chunk's head.
        changed[14] ^= 1;
        assert!(unframe(&changed, data.len()).is_err(), "another checksum");
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_stop_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = unframe(&bytes, 1_000);
            let _ = unframe(&[b"\xff\x06\x00\x00sNaPpY", bytes.as_slice()].concat(), 1_000);
        }
    }
}
