//! Seals and opens cursors: base64url of version, payload and a truncated HMAC-SHA256.
//!
//! The question lies inside the payload and under the one MAC: whole for pages of blocks, as a digest for
//! lists. So the MAC is checked first, over bytes that do not depend on who asks; only of a cursor we wrote is
//! then told whose it is. A forger learns nothing from that answer.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use super::list::{self, LIST_TEXT_BYTES_MAX, ListCursor};
use super::payload::{self, PAYLOAD_BYTES};
use super::{Cursor, CursorError, PageQuestion, QuestionDigest};

/// Keeps these codes apart from any other use of the same key.
const DOMAIN: &[u8] = b"headwater cursor";
const SECRET_DOMAIN: &[u8] = b"headwater cursor secret";
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

    /// Of an operator's text, for servers that have no store in common. Guessing it is as hard as the text is.
    pub fn of_secret(secret: &str) -> Self {
        Self::new(Sha256::new_with_prefix(SECRET_DOMAIN).chain_update(secret).finalize().into())
    }

    pub fn seal(&self, cursor: &Cursor, question: &PageQuestion) -> String {
        let mut bytes = payload::encode(cursor, question);
        let code = self.mac.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(code.iter().take(MAC_BYTES));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// With the question it was written for. A cursor lives `ttl_s` seconds. One from the future is taken:
    /// instances' clocks differ.
    pub fn open(
        &self,
        text: &str,
        now_unix_s: u64,
        ttl_s: u64,
    ) -> Result<(Cursor, PageQuestion), CursorError> {
        let (cursor, question) = self.authenticate(text)?;
        if now_unix_s.saturating_sub(cursor.issued_at) > ttl_s {
            return Err(CursorError::Expired);
        }
        Ok((cursor, question))
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

    fn authenticate(&self, text: &str) -> Result<(Cursor, PageQuestion), CursorError> {
        if text.len() != TEXT_BYTES {
            return Err(CursorError::Malformed);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
        let (sealed, code) = bytes.split_at_checked(PAYLOAD_BYTES).ok_or(CursorError::Malformed)?;
        if sealed.first() != Some(&payload::VERSION) {
            return Err(CursorError::Malformed);
        }
        // Compares in constant time; `code` has MAC_BYTES bytes because the text's length is fixed.
        let checked = self.mac.clone().chain_update(sealed).verify_truncated_left(code);
        checked.map_err(|_| CursorError::Altered)?;
        payload::decode(sealed).ok_or(CursorError::Malformed)
    }
}

/// Never shows the key.
impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey(hidden)")
    }
}
