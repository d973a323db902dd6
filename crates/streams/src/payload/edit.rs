//! The edits that a stored body undergoes, made on its bytes: what it tells stays as it was written.
//!
//! A quote inside a JSON text is always escaped, so `,"` cannot stand inside one, and `,"retries":` is found only
//! where it is a key. Before that key come only keys of ours and of the ABI's fixed form.

use bytes::Bytes;

use super::head::RETRIES;

const UNCONFIRMED: &[u8] = b"{\"confirmed\":false";

/// The body of an unconfirmed block, as it is sent once the block is confirmed.
pub fn confirmed(body: &[u8]) -> Bytes {
    with_opening(body, b"{\"confirmed\":true")
}

/// The same for a block that is no longer on the chain. The items stay, so that a receiver can undo them.
pub fn retracted(body: &[u8]) -> Bytes {
    with_opening(body, b"{\"confirmed\":false,\"retracted\":true")
}

fn with_opening(body: &[u8], opening: &[u8]) -> Bytes {
    match body.strip_prefix(UNCONFIRMED) {
        Some(rest) => [opening, rest].concat().into(),
        None => Bytes::copy_from_slice(body),
    }
}

/// The body of a later attempt.
pub fn with_retries(body: &[u8], retries: u32) -> Bytes {
    let key = RETRIES.as_bytes();
    let place = body.windows(key.len()).position(|window| window == key);
    let parts = place.and_then(|place| body.split_at_checked(place + key.len()));
    let Some((before, rest)) = parts else { return Bytes::copy_from_slice(body) };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after = rest.get(digits..).unwrap_or_default();
    [before, retries.to_string().as_bytes(), after].concat().into()
}

/// What a receiver is asked to take before a stream is made or changed.
pub fn test_body() -> Bytes {
    Bytes::from_static(
        concat!(
            r#"{"confirmed":true,"chainId":"","abi":[],"streamId":"","tag":"","retries":0,"#,
            r#""block":{"number":"","hash":"","timestamp":""},"logs":[],"txs":[],"txsInternal":[],"#,
            r#""erc20Transfers":[],"erc20Approvals":[],"nftTokenApprovals":[],"#,
            r#""nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}"#,
        )
        .as_bytes(),
    )
}
