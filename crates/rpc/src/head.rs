//! A chain's newest block, as far as following it needs.

use crate::upstream_id::UpstreamId;
use alloy_primitives::B256;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    pub timestamp: u64,
    /// Who said so.
    pub upstream: UpstreamId,
}

impl Head {
    /// Reads a block or a newHeads header; `None` when a field is missing or no head (pending block).
    pub(crate) fn parse(json: &[u8], upstream: UpstreamId) -> Option<Self> {
        let fields: Fields<'_> = serde_json::from_slice(json).ok()?;
        Some(Self {
            number: quantity(fields.number)?,
            hash: fields.hash.parse().ok()?,
            parent_hash: fields.parent_hash.parse().ok()?,
            timestamp: quantity(fields.timestamp)?,
            upstream,
        })
    }
}

#[derive(Deserialize)]
struct Fields<'a> {
    number: &'a str,
    hash: &'a str,
    #[serde(rename = "parentHash")]
    parent_hash: &'a str,
    timestamp: &'a str,
}

/// A JSON-RPC quantity, `0x…`.
pub(crate) fn quantity(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_a_pending_block_is_not() {
        let zero = B256::ZERO;
        let header = format!(
            r#"{{"number":"0x10","hash":"{zero}","parentHash":"{zero}","timestamp":"0x5","extra":[1]}}"#
        );
        let head = Head::parse(header.as_bytes(), UpstreamId(3)).unwrap();
        assert_eq!((head.number, head.timestamp, head.upstream), (16, 5, UpstreamId(3)));
        let pending = header.replace(&format!(r#""hash":"{zero}""#), r#""hash":null"#);
        assert_eq!(Head::parse(pending.as_bytes(), UpstreamId(3)), None);
        assert_eq!(Head::parse(b"null", UpstreamId(3)), None);
    }
}
