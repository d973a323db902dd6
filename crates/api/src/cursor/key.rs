//! Seals and opens cursors: base64url of version, payload and a truncated HMAC-SHA256.
//!
//! The question's whole digest lies inside the payload and under the one MAC. So the MAC is checked
//! first, over bytes that do not depend on who asks; only a cursor we wrote is then told "foreign".
//! A forger learns nothing from that answer, and the binding has the digest's full 128 bits.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::list::{self, LIST_TEXT_BYTES_MAX, ListCursor};
use super::payload::{self, PAYLOAD_BYTES};
use super::{Cursor, CursorError, QuestionDigest};

/// Keeps these codes apart from any other use of the same key.
const DOMAIN: &[u8] = b"headwater cursor";
const MAC_BYTES: usize = 16;
/// Every cursor of a page of blocks has exactly this length, so a longer text is refused before it is decoded.
const TEXT_BYTES: usize = ((PAYLOAD_BYTES + MAC_BYTES) * 4).div_ceil(3);

#[derive(Clone)]
pub struct CursorKey {
    /// Keyed once; each use clones the prepared state.
    mac: Hmac<Sha256>,
}

impl CursorKey {
    pub fn new(key: [u8; 32]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key of 32 bytes");
        Self { mac: mac.chain_update(DOMAIN) }
    }

    pub fn seal(&self, cursor: &Cursor, question: &QuestionDigest) -> String {
        let mut bytes = payload::encode(cursor, question);
        let code = self.mac.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(code.iter().take(MAC_BYTES));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// A cursor lives `ttl_s` seconds. One from the future is taken: instances' clocks differ.
    pub fn open(
        &self,
        text: &str,
        question: &QuestionDigest,
        now_unix_s: u64,
        ttl_s: u64,
    ) -> Result<Cursor, CursorError> {
        let (cursor, written_for) = self.authenticate(text)?;
        if written_for != *question {
            return Err(CursorError::Foreign);
        }
        if now_unix_s.saturating_sub(cursor.issued_at) > ttl_s {
            return Err(CursorError::Expired);
        }
        Ok(cursor)
    }

    /// The same for lists whose places are no positions in a chain.
    pub fn seal_list(&self, cursor: &ListCursor, question: &QuestionDigest) -> String {
        let mut bytes = list::encode(cursor, question);
        let code = self.mac.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(code.iter().take(MAC_BYTES));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub fn open_list(
        &self,
        text: &str,
        question: &QuestionDigest,
        now_unix_s: u64,
        ttl_s: u64,
    ) -> Result<ListCursor, CursorError> {
        if text.len() > LIST_TEXT_BYTES_MAX {
            return Err(CursorError::Malformed);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
        let split = bytes.split_last_chunk::<MAC_BYTES>().ok_or(CursorError::Malformed)?;
        let (sealed, code) = split;
        let (cursor, written_for) = list::decode(sealed).ok_or(CursorError::Malformed)?;
        let checked = self.mac.clone().chain_update(sealed).verify_truncated_left(code);
        checked.map_err(|_| CursorError::Altered)?;
        if written_for != *question {
            return Err(CursorError::Foreign);
        }
        if now_unix_s.saturating_sub(cursor.issued_at) > ttl_s {
            return Err(CursorError::Expired);
        }
        Ok(cursor)
    }

    fn authenticate(&self, text: &str) -> Result<(Cursor, QuestionDigest), CursorError> {
        if text.len() != TEXT_BYTES {
            return Err(CursorError::Malformed);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
        let (sealed, code) = bytes.split_at_checked(PAYLOAD_BYTES).ok_or(CursorError::Malformed)?;
        let read = payload::decode(sealed).ok_or(CursorError::Malformed)?;
        // Compares in constant time; `code` has MAC_BYTES bytes because the text's length is fixed.
        let checked = self.mac.clone().chain_update(sealed).verify_truncated_left(code);
        checked.map(|()| read).map_err(|_| CursorError::Altered)
    }
}

/// Never shows the key.
impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey(hidden)")
    }
}
