//! What users call events by: `Transfer(address,address,uint256)`, or its hash.

use alloy_primitives::{B256, keccak256};

use super::sol_type::parse_signature;

/// Canonical text of a signature or hash, and the topic it stands for.
pub(super) struct Topic0 {
    pub text: String,
    pub hash: B256,
}

pub(super) fn read_topic0(text: &str) -> Result<Topic0, String> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let hash: B256 =
            Some(hex).filter(|hex| hex.len() == 64).and_then(|hex| hex.parse().ok()).ok_or_else(
                || format!("`{text}` is not an event: a hash has 0x and 64 hex digits"),
            )?;
        return Ok(Topic0 { text: hash.to_string(), hash });
    }
    parse_signature(text)?;
    Ok(Topic0 { text: text.to_owned(), hash: keccak256(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_and_its_hash_are_the_same_event() {
        let hash = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
        let by_text = read_topic0("Transfer(address,address,uint256)").unwrap();
        let by_hash = read_topic0(&hash.to_uppercase()).unwrap();
        assert_eq!(by_text.hash, by_hash.hash);
        assert_eq!(by_hash.text, hash);
        for bad in ["0x", "0xddf2", "0xzz", &format!("{hash}00"), &hash[2..], "", "0x0x"] {
            assert!(read_topic0(bad).is_err(), "{bad}");
        }
    }
}
