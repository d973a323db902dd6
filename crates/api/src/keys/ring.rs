//! The keys a running server knows.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use store::{ApiKey, MethodRules, Role, Shared, Store};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

use super::{NewKey, create, describe, hash};
use crate::error::ApiError;
use crate::lock;
use crate::throttle::Throttle;
use crate::usage::UsageCounts;

/// Who asks.
pub struct Owner {
    /// What names the key to people.
    pub id: String,
    pub name: String,
    pub tenant: String,
    pub role: Role,
    pub throttle: Throttle,
    pub methods: MethodRules,
}

pub struct KeyRing {
    store: Store,
    /// From the configuration, beside those of the store.
    bootstrap: Option<ApiKey>,
    default_units: u32,
    known: RwLock<HashMap<[u8; 32], Arc<Owner>>>,
    changed: watch::Sender<u64>,
}

impl KeyRing {
    /// The key of the configuration is an admin's: who writes the configuration runs the server.
    pub async fn open(
        store: &Store,
        bootstrap_key: &str,
        default_units: u32,
    ) -> Result<Self, store::Error> {
        let bootstrap = (!bootstrap_key.is_empty()).then(|| {
            let (tenant, name) = ("default".to_owned(), "bootstrap".to_owned());
            let new = NewKey {
                tenant,
                name,
                role: Role::Admin,
                units_per_second: None,
                methods: MethodRules::default(),
            };
            ApiKey { id: "bootstrap".into(), ..describe(bootstrap_key, new, 0) }
        });
        let ring = KeyRing {
            store: store.clone(),
            bootstrap,
            default_units,
            known: RwLock::default(),
            changed: watch::Sender::new(0),
        };
        ring.reload().await?;
        Ok(ring)
    }

    pub fn is_empty(&self) -> bool {
        lock::read(&self.known).is_empty()
    }

    pub async fn list(&self) -> Result<Vec<ApiKey>, store::Error> {
        self.store.api_keys().await
    }

    /// The key and what is stored of it; it counts at once.
    pub async fn create(&self, new: NewKey) -> Result<(String, ApiKey), store::Error> {
        let created = create(&self.store, new).await?;
        self.reload().await?;
        Ok(created)
    }

    /// None where there is no such key.
    pub async fn revoke(&self, id: &str) -> Result<Option<ApiKey>, store::Error> {
        let gone = self.store.remove_api_key(id).await?;
        self.reload().await?;
        Ok(gone)
    }

    async fn reload(&self) -> Result<(), store::Error> {
        let rows = self.store.api_keys().await?;
        let mut known = lock::write(&self.known);
        let old = std::mem::take(&mut *known);
        for row in rows.iter().chain(&self.bootstrap) {
            let units = row.units_per_second.unwrap_or(self.default_units);
            // A key that did not change keeps its bucket: a new neighbour refills nobody's.
            let is_same = |owner: &&Arc<Owner>| {
                (owner.tenant.as_str(), owner.role) == (row.tenant.as_str(), row.role)
                    && owner.throttle.units_per_second() == units
                    && owner.methods == row.methods
            };
            let owner = old.get(&row.hash).filter(is_same).cloned().unwrap_or_else(|| {
                let throttle = Throttle::new(units);
                let (tenant, methods) = (row.tenant.clone(), row.methods.clone());
                let (id, name) = (row.id.clone(), row.name.clone());
                Arc::new(Owner { id, name, tenant, role: row.role, throttle, methods })
            });
            known.insert(row.hash, owner);
        }
        drop(known);
        self.changed.send_modify(|times| *times += 1);
        Ok(())
    }

    /// Takes in what other processes make and revoke; ends with an error of the store's, or where there are none.
    pub async fn follow(&self) -> Result<(), store::Error> {
        let Some(mut changed) = self.store.watch_shared(Shared::Keys) else { return Ok(()) };
        loop {
            self.reload().await?;
            if changed.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    /// Changes when keys were made or revoked.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The owner of a key that was checked before; none where it was revoked since.
    pub fn owner_of(&self, key_hash: &[u8; 32]) -> Option<Arc<Owner>> {
        lock::read(&self.known).get(key_hash).cloned()
    }

    /// What a key has used since the process started.
    pub fn usage_of(&self, key_hash: &[u8; 32]) -> Option<UsageCounts> {
        self.owner_of(key_hash).map(|owner| owner.throttle.usage())
    }

    /// A missing key costs the same work as a wrong one.
    pub fn check(&self, key: Option<&[u8]>) -> Result<Arc<Owner>, ApiError> {
        let presented = hash(key.unwrap_or_default());
        let known = lock::read(&self.known);
        let found = known.get_key_value(&presented);
        let owner = found.filter(|(hash, _)| bool::from(hash.ct_eq(&presented)));
        match (key, owner) {
            (None, _) => Err(ApiError::KeyMissing),
            (Some(_), None) => Err(ApiError::KeyWrong),
            (Some(_), Some((_, owner))) => Ok(owner.clone()),
        }
    }
}
