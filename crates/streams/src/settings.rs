//! What a tenant sets for all its streams: the region it is told, and the secret that signs its webhooks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use store::Store;

use crate::clock;
use crate::secrets::{SecretBox, SecretError, StoredSecret, fresh_secret};
use crate::signature::Secrets;

pub const REGIONS: [&str; 4] = ["us-east-1", "us-west-2", "eu-central-1", "ap-southeast-1"];
/// A secret that is shorter can be guessed; a longer one is a mistake.
pub const SECRET_CHARS_MIN: usize = 8;
pub const SECRET_CHARS_MAX: usize = 512;

#[derive(Clone, Debug)]
pub struct TenantSettings {
    pub region: String,
    pub secrets: Secrets,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredSettings {
    region: String,
    secret: StoredSecret,
    /// The one before, and until when it still signs.
    previous: Option<(StoredSecret, u64)>,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

pub struct SettingsBook {
    store: Store,
    secrets: SecretBox,
    overlap_ms: u64,
    known: Mutex<HashMap<String, Arc<TenantSettings>>>,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
}

impl SettingsBook {
    pub fn new(store: Store, secret_key: &str, overlap_s: u64) -> Self {
        SettingsBook {
            store,
            secrets: SecretBox::new(secret_key),
            overlap_ms: overlap_s.saturating_mul(1000),
            known: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<TenantSettings>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked for before, without a look at the store.
    pub fn cached(&self, tenant: &str) -> Option<Arc<TenantSettings>> {
        self.known().get(tenant).cloned()
    }

    /// Another process may have changed it.
    pub fn forget(&self) {
        self.known().clear();
    }

    /// A tenant has a secret from the start.
    pub async fn get(&self, tenant: &str) -> Result<Arc<TenantSettings>, SettingsError> {
        if let Some(known) = self.cached(tenant) {
            return Ok(known);
        }
        let _one_at_a_time = self.changing.lock().await;
        let stored = self.stored(tenant).await?;
        let settings = match &stored {
            Some(stored) => self.open(stored)?,
            None => {
                let secrets = Secrets { current: fresh_secret(), previous: None };
                TenantSettings { region: REGIONS[0].to_owned(), secrets }
            }
        };
        let is_sealed = stored.is_some_and(|it| !self.secrets.should_seal(&it.secret));
        if !is_sealed {
            self.write(tenant, &settings).await?;
        }
        Ok(self.remember(tenant, settings))
    }

    async fn stored(&self, tenant: &str) -> Result<Option<StoredSettings>, SettingsError> {
        let Some(body) = self.store.stream_settings(tenant).await? else { return Ok(None) };
        let broken = |_| store::Error::Broken { what: "row of stream settings" };
        Ok(Some(serde_json::from_slice(&body).map_err(broken)?))
    }

    fn open(&self, stored: &StoredSettings) -> Result<TenantSettings, SettingsError> {
        let previous = match &stored.previous {
            Some((secret, until)) => Some((self.secrets.open(secret)?, *until)),
            None => None,
        };
        let secrets = Secrets { current: self.secrets.open(&stored.secret)?, previous };
        Ok(TenantSettings { region: stored.region.clone(), secrets })
    }

    async fn write(&self, tenant: &str, settings: &TenantSettings) -> Result<(), SettingsError> {
        let Secrets { current, previous } = &settings.secrets;
        let stored = StoredSettings {
            region: settings.region.clone(),
            secret: self.secrets.seal(current),
            previous: previous.as_ref().map(|(secret, until)| (self.secrets.seal(secret), *until)),
        };
        let body = serde_json::to_vec(&stored).unwrap_or_default();
        Ok(self.store.put_stream_settings(tenant, body).await?)
    }

    fn remember(&self, tenant: &str, settings: TenantSettings) -> Arc<TenantSettings> {
        let settings = Arc::new(settings);
        self.known().insert(tenant.to_owned(), settings.clone());
        settings
    }

    /// A new secret signs beside the old one until the overlap ends.
    pub async fn set(
        &self,
        tenant: &str,
        region: Option<String>,
        secret: Option<String>,
    ) -> Result<Arc<TenantSettings>, SettingsError> {
        let known = self.get(tenant).await?;
        let _one_at_a_time = self.changing.lock().await;
        // Another change may have come in between.
        let before = self.cached(tenant).unwrap_or(known);
        let mut settings = TenantSettings::clone(&before);
        if let Some(region) = region {
            settings.region = region;
        }
        if let Some(secret) = secret.filter(|secret| *secret != before.secrets.current) {
            let until = clock::now_ms().saturating_add(self.overlap_ms);
            settings.secrets = Secrets {
                current: secret,
                previous: Some((before.secrets.current.clone(), until)),
            };
        }
        self.write(tenant, &settings).await?;
        Ok(self.remember(tenant, settings))
    }
}
