//! Chain ids as streams write them: hex.

use model::chain::ChainId;

/// `0x1`, in any case and with leading zeros. Decimal numbers and names are none.
pub(super) fn parse_chain_id(text: &str) -> Option<ChainId> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    u64::from_str_radix(digits, 16).ok().map(ChainId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_ids_are_hex_in_any_form() {
        for (given, expected) in [
            ("0x1", Some(1)),
            ("0X1", Some(1)),
            ("0x0000000000000000000000089", Some(137)),
            ("0xAA36A7", Some(11_155_111)),
            ("0xffffffffffffffff", Some(u64::MAX)),
            ("0x10000000000000000", None),
            ("0x0", None),
            ("0x", None),
            ("0x+1", None),
            ("1", None),
            ("eth", None),
            (" 0x1", None),
        ] {
            assert_eq!(parse_chain_id(given), expected.map(ChainId), "{given}");
        }
    }
}
