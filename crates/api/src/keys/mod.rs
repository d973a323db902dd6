//! API keys: made, kept as hashes in the store, checked on every request.

mod old_file;
mod ring;
#[cfg(test)]
mod tests;

pub use old_file::take_in_old_file;
pub use ring::{KeyRing, Owner};

use rand::RngCore;
use sha2::{Digest, Sha256};
use store::{ApiKey, MethodRules, Role, Store};

use crate::clock::now_s;

/// Characters of the hash that name a key to people.
const ID_CHARS: usize = 12;

/// What is stored of a key.
pub fn hash(key: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(key.as_ref()).into()
}

/// 32 random bytes from the operating system, as hex behind a prefix that secret scanners can learn.
pub fn fresh() -> String {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    format!("hw_{}", alloy_primitives::hex::encode(bytes))
}

/// What whoever makes a key decides about it.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub tenant: String,
    pub name: String,
    pub role: Role,
    /// Compute units per second; the server's own limit where none is given.
    pub units_per_second: Option<u32>,
    pub methods: MethodRules,
}

/// The row of a key that is not written down anywhere else.
pub fn describe(key: &str, new: NewKey, created_at: u64) -> ApiKey {
    let hash = hash(key);
    let id = alloy_primitives::hex::encode(hash).chars().take(ID_CHARS).collect();
    let NewKey { tenant, name, role, units_per_second, methods } = new;
    ApiKey { id, hash, tenant, name, role, created_at, units_per_second, methods }
}

/// Makes a key and stores its hash. The key itself is in the answer and nowhere else.
pub async fn create(store: &Store, new: NewKey) -> Result<(String, ApiKey), store::Error> {
    let key = fresh();
    let row = describe(&key, new, now_s());
    store.put_api_key(&row).await?;
    Ok((key, row))
}
