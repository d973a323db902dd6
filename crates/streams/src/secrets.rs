//! Webhook secrets on disk: sealed where the operator configured a key for that, readable otherwise.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::RngCore;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// A secret as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredSecret {
    Plain(String),
    /// Base64 of a nonce and what it seals.
    Sealed(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error(
        "webhook secrets are sealed and streams.secret_key is not set; set it to the key they were sealed with"
    )]
    NoKey,
    #[error("webhook secrets cannot be opened with this streams.secret_key")]
    WrongKey,
}

/// Seals and opens; none where no key is configured.
pub struct SecretBox(Option<LessSafeKey>);

impl SecretBox {
    pub fn new(secret_key: &str) -> Self {
        if secret_key.is_empty() {
            return SecretBox(None);
        }
        let key = digest(&SHA256, secret_key.as_bytes());
        SecretBox(UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).ok().map(LessSafeKey::new))
    }

    pub fn seal(&self, secret: &str) -> StoredSecret {
        let Some(key) = &self.0 else { return StoredSecret::Plain(secret.to_owned()) };
        let mut nonce = [0u8; NONCE_LEN];
        rand::rng().fill_bytes(&mut nonce);
        let mut bytes = secret.as_bytes().to_vec();
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        match key.seal_in_place_append_tag(nonce_used, Aad::empty(), &mut bytes) {
            Ok(()) => StoredSecret::Sealed(STANDARD.encode([nonce.as_slice(), &bytes].concat())),
            // Only what is larger than any secret cannot be sealed.
            Err(_) => StoredSecret::Plain(secret.to_owned()),
        }
    }

    pub fn open(&self, stored: &StoredSecret) -> Result<String, SecretError> {
        let text = match stored {
            StoredSecret::Plain(secret) => return Ok(secret.clone()),
            StoredSecret::Sealed(text) => text,
        };
        let key = self.0.as_ref().ok_or(SecretError::NoKey)?;
        let bytes = STANDARD.decode(text).map_err(|_| SecretError::WrongKey)?;
        let (nonce, sealed) =
            bytes.split_first_chunk::<NONCE_LEN>().ok_or(SecretError::WrongKey)?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = key.open_in_place(nonce, Aad::empty(), &mut sealed);
        let opened = opened.map_err(|_| SecretError::WrongKey)?;
        String::from_utf8(opened.to_vec()).map_err(|_| SecretError::WrongKey)
    }

    /// Whether a secret should be written again: a key was configured since.
    pub fn should_seal(&self, stored: &StoredSecret) -> bool {
        self.0.is_some() && matches!(stored, StoredSecret::Plain(_))
    }
}

/// 32 random bytes as hex.
pub fn fresh_secret() -> String {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    alloy_primitives::hex::encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_secret_is_unreadable_and_opens_with_its_key_alone() {
        let sealing = SecretBox::new("operator's key");
        let stored = sealing.seal("k9k9");
        assert!(!format!("{stored:?}").contains("k9k9"));
        assert_ne!(stored, sealing.seal("k9k9"), "each has its own nonce");
        assert_eq!(sealing.open(&stored).as_deref(), Ok("k9k9"));
        assert_eq!(SecretBox::new("another").open(&stored), Err(SecretError::WrongKey));
        assert_eq!(SecretBox::new("").open(&stored), Err(SecretError::NoKey));
        let broken = StoredSecret::Sealed("no base64!".into());
        assert_eq!(sealing.open(&broken), Err(SecretError::WrongKey));
    }

    #[test]
    fn without_a_key_a_secret_is_kept_as_it_is_until_there_is_one() {
        let stored = SecretBox::new("").seal("k9");
        assert_eq!(stored, StoredSecret::Plain("k9".into()));
        let sealing = SecretBox::new("now");
        assert_eq!(sealing.open(&stored).as_deref(), Ok("k9"));
        assert!(sealing.should_seal(&stored) && !sealing.should_seal(&sealing.seal("k9")));
    }
}
