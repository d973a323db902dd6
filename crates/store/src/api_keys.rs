//! API keys, by their SHA-256. The key itself is never stored.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::open::Store;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKeyRow {
    /// For people: which key is meant, without being able to use it.
    pub id: String,
    pub tenant: String,
    pub name: String,
    pub created_at_s: u64,
    #[serde(default)]
    pub units_per_second: Option<u32>,
}

const BROKEN: Error = Error::BrokenRow { table: "api_keys" };

impl Store {
    pub fn put_api_key(&self, sha256: [u8; 32], row: &ApiKeyRow) -> Result<(), Error> {
        let bytes = serde_json::to_vec(row).map_err(|_| BROKEN)?;
        self.inner.tables.api_keys.insert(sha256, bytes)?;
        self.persist()
    }

    pub fn api_keys(&self) -> Result<Vec<([u8; 32], ApiKeyRow)>, Error> {
        let mut keys = Vec::new();
        for item in self.inner.tables.api_keys.iter() {
            let (key, value) = item.into_inner()?;
            let hash = key.as_ref().try_into().map_err(|_| BROKEN)?;
            keys.push((hash, serde_json::from_slice(&value).map_err(|_| BROKEN)?));
        }
        Ok(keys)
    }

    /// By id; says whether there was one.
    pub fn remove_api_key(&self, id: &str) -> Result<bool, Error> {
        let found = self.api_keys()?.into_iter().find(|(_, row)| row.id == id);
        let Some((hash, _)) = found else { return Ok(false) };
        self.inner.tables.api_keys.remove(hash)?;
        self.persist()?;
        Ok(true)
    }
}
