//! The keys a running server knows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;

use subtle::ConstantTimeEq;

use super::file::Edition;
use super::{KeyFile, KeyFileError, KeyRow, hash};
use crate::error::ApiError;
use crate::throttle::Throttle;

/// How often the file is looked at; a new or revoked key counts from then on.
const LOOK_EVERY_MS: u128 = 500;

/// Who asks.
pub struct Owner {
    pub tenant: String,
    pub throttle: Throttle,
}

pub struct KeyRing {
    file: KeyFile,
    /// From the configuration, beside those of the file.
    bootstrap: Option<KeyRow>,
    default_units: u32,
    known: RwLock<HashMap<[u8; 32], Arc<Owner>>>,
    looked: Mutex<(Instant, Option<Edition>)>,
}

impl KeyRing {
    pub fn new(
        file: KeyFile,
        bootstrap_key: Option<&str>,
        default_units: u32,
    ) -> Result<Self, KeyFileError> {
        let bootstrap = bootstrap_key.filter(|key| !key.is_empty()).map(|key| KeyRow {
            id: "bootstrap".into(),
            sha256: alloy_primitives::hex::encode(hash(key)),
            tenant: "default".into(),
            name: "bootstrap".into(),
            created_at: String::new(),
            units_per_second: None,
        });
        let ring = KeyRing {
            looked: Mutex::new((Instant::now(), file.edition())),
            known: RwLock::default(),
            file,
            bootstrap,
            default_units,
        };
        ring.load()?;
        Ok(ring)
    }

    pub fn is_empty(&self) -> bool {
        self.known.read().unwrap_or_else(|e| e.into_inner()).is_empty()
    }

    fn load(&self) -> Result<(), KeyFileError> {
        let rows = self.file.read()?;
        let mut known = self.known.write().unwrap_or_else(|e| e.into_inner());
        let old = std::mem::take(&mut *known);
        for row in rows.iter().chain(&self.bootstrap) {
            let Ok(hash) = alloy_primitives::hex::decode_to_array::<_, 32>(&row.sha256) else {
                tracing::warn!(key.id = %row.id, "a key in the key file has no proper hash");
                continue;
            };
            let units = row.units_per_second.unwrap_or(self.default_units);
            // A key that did not change keeps its bucket: a new neighbour refills nobody's.
            let same =
                |o: &&Arc<Owner>| o.tenant == row.tenant && o.throttle.units_per_second() == units;
            let owner = old.get(&hash).filter(same).cloned().unwrap_or_else(|| {
                Arc::new(Owner { tenant: row.tenant.clone(), throttle: Throttle::new(units) })
            });
            known.insert(hash, owner);
        }
        Ok(())
    }

    fn look_again(&self) {
        let mut looked = self.looked.lock().unwrap_or_else(|e| e.into_inner());
        if looked.0.elapsed().as_millis() < LOOK_EVERY_MS {
            return;
        }
        looked.0 = Instant::now();
        let edition = self.file.edition();
        if edition == looked.1 {
            return;
        }
        looked.1 = edition;
        if let Err(error) = self.load() {
            tracing::warn!(%error, "the key file could not be read; the keys known so far stay");
        }
    }

    /// A missing key costs the same work as a wrong one.
    pub fn check(&self, key: Option<&[u8]>) -> Result<Arc<Owner>, ApiError> {
        self.look_again();
        let presented = hash(key.unwrap_or_default());
        let known = self.known.read().unwrap_or_else(|e| e.into_inner());
        let found = known.get_key_value(&presented);
        let owner = found.filter(|(hash, _)| bool::from(hash.ct_eq(&presented)));
        match (key, owner) {
            (None, _) => Err(ApiError::KeyMissing),
            (Some(_), None) => Err(ApiError::KeyWrong),
            (Some(_), Some((_, owner))) => Ok(owner.clone()),
        }
    }
}
