//! The keys a running server knows.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, RwLock};

use alloy_primitives::map::HashMap;
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
    known: RwLock<KnownKeys>,
    /// Of this process, and told to nobody.
    fingerprints: [RandomState; 2],
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct KnownKeys {
    by_hash: HashMap<[u8; 32], Arc<Owner>>,
    /// Those that were checked by their hash before: it is most of what checking costs.
    checked: HashMap<Fingerprint, Arc<Owner>>,
}

/// Of a key: 128 bits that nobody can aim at, since they depend on random numbers of this process.
type Fingerprint = [u64; 2];

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
            fingerprints: Default::default(),
            changed: watch::Sender::new(0),
        };
        ring.reload().await?;
        Ok(ring)
    }

    pub fn is_empty(&self) -> bool {
        lock::read(&self.known).by_hash.is_empty()
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
        let old = std::mem::take(&mut *known).by_hash;
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
            known.by_hash.insert(row.hash, owner);
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
        lock::read(&self.known).by_hash.get(key_hash).cloned()
    }

    /// What a key has used since the process started.
    pub fn usage_of(&self, key_hash: &[u8; 32]) -> Option<UsageCounts> {
        self.owner_of(key_hash).map(|owner| owner.throttle.usage())
    }

    /// A missing key costs the same work as a wrong one.
    pub fn check(&self, key: Option<&[u8]>) -> Result<Arc<Owner>, ApiError> {
        let fingerprint = key.map(|key| self.fingerprint(key));
        if let Some(fingerprint) = &fingerprint
            && let Some(owner) = lock::read(&self.known).checked.get(fingerprint)
        {
            return Ok(owner.clone());
        }
        let presented = hash(key.unwrap_or_default());
        let found = {
            let known = lock::read(&self.known);
            let found = known.by_hash.get_key_value(&presented);
            let found = found.filter(|(hash, _)| bool::from(hash.ct_eq(&presented)));
            found.map(|(_, owner)| owner.clone())
        };
        match (fingerprint, found) {
            (None, _) => Err(ApiError::KeyMissing),
            (Some(_), None) => Err(ApiError::KeyWrong),
            (Some(fingerprint), Some(owner)) => {
                let mut known = lock::write(&self.known);
                // Not one that was revoked meanwhile.
                if known.by_hash.get(&presented).is_some_and(|it| Arc::ptr_eq(it, &owner)) {
                    known.checked.insert(fingerprint, owner.clone());
                }
                Ok(owner)
            }
        }
    }

    fn fingerprint(&self, key: &[u8]) -> Fingerprint {
        self.fingerprints.each_ref().map(|state| state.hash_one(key))
    }
}
