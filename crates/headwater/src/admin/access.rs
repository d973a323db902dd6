//! A data folder belongs to one process: where a server has it, commands go through that server; where
//! none does, they open the store themselves.

use anyhow::Result;
use store::Store;

use super::Client;
use crate::config::Settings;
use crate::open_store::{open_existing_store, open_store};

pub enum StoreAccess {
    Server(Client),
    Store(Store),
}

impl StoreAccess {
    /// For commands that need something that is stored.
    pub async fn to_existing(settings: &Settings) -> Result<Self> {
        if let Some(client) = Client::connect(&settings.store.path).await? {
            return Ok(StoreAccess::Server(client));
        }
        Ok(StoreAccess::Store(open_existing_store(settings).await?))
    }

    /// Makes the folder where there is none.
    pub async fn to(settings: &Settings) -> Result<Self> {
        if let Some(client) = Client::connect(&settings.store.path).await? {
            return Ok(StoreAccess::Server(client));
        }
        Ok(StoreAccess::Store(open_store(settings, true).await?))
    }
}
