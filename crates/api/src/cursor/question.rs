//! The question that the cursor of a list belongs to, as sixteen bytes.
//!
//! Put in everything that decides which rows are answered and in what order. Leave out `limit` and `cursor`: the
//! cursor itself carries them.

use sha2::{Digest, Sha256};

/// Keeps these digests apart from any other use of SHA-256.
const DOMAIN: &[u8] = b"headwater question 1";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuestionDigest(pub(super) [u8; 16]);

impl QuestionDigest {
    pub fn builder() -> QuestionBuilder {
        QuestionBuilder { hasher: Sha256::new_with_prefix(DOMAIN) }
    }
}

/// Fields count in the order they are given; each operation gives them in one place, so always alike.
#[derive(Clone)]
pub struct QuestionBuilder {
    hasher: Sha256,
}

impl QuestionBuilder {
    /// Lengths go first, so that no two lists of fields run together into the same bytes.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            self.hasher.update((part.len() as u64).to_be_bytes());
            self.hasher.update(part);
        }
        self
    }

    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.field(name, value.to_be_bytes())
    }

    /// An absent field leaves no trace, which differs from an empty one and from zero.
    #[must_use]
    pub fn number_if(self, name: &str, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.number(name, value),
            None => self,
        }
    }

    pub fn finish(self) -> QuestionDigest {
        let whole: [u8; 32] = self.hasher.finalize().into();
        let mut digest = [0; 16];
        digest.iter_mut().zip(whole).for_each(|(short, byte)| *short = byte);
        QuestionDigest(digest)
    }
}
