//! `headwater keys`: make, list, revoke. Through the server where one runs on the data folder.

use std::process::ExitCode;

use anyhow::{Context, Result};
use api::keys::create;
use api::{KeyCreated, KeyInfo, KeyRequest, RoleName};

use super::run_async;
use crate::admin::StoreAccess;
use crate::cli::{KeysCommand, Where};
use crate::config::{Flags, Settings};
use crate::say;

pub fn run(command: &KeysCommand) -> Result<ExitCode> {
    run_async(async {
        match command {
            KeysCommand::Create {
                place,
                tenant,
                name,
                admin,
                units_per_second,
                allow_methods,
                deny_methods,
            } => {
                let request = KeyRequest {
                    tenant: tenant.clone(),
                    name: name.clone(),
                    role: if *admin { RoleName::Admin } else { RoleName::Tenant },
                    units_per_second: *units_per_second,
                    allow_methods: allow_methods.clone(),
                    deny_methods: deny_methods.clone(),
                };
                // The one time it is shown.
                say(&make(&access(place).await?, request).await?)?;
            }
            KeysCommand::List { place } => list(&existing(place).await?).await?,
            KeysCommand::Revoke { place, id } => {
                let gone = revoke(&existing(place).await?, id).await?;
                eprintln!("revoked key {} of tenant {}", gone.id, gone.tenant);
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn access(place: &Where) -> Result<StoreAccess> {
    StoreAccess::to(&Settings::load(&Flags::from(place))?).await
}

async fn existing(place: &Where) -> Result<StoreAccess> {
    StoreAccess::to_existing(&Settings::load(&Flags::from(place))?).await
}

async fn make(access: &StoreAccess, request: KeyRequest) -> Result<String> {
    match access {
        StoreAccess::Server(server) => {
            let created: KeyCreated = server.post("/admin/v1/keys", &request).await?;
            Ok(created.key)
        }
        StoreAccess::Store(store) => Ok(create(store, request.check()?).await?.0),
    }
}

async fn list(access: &StoreAccess) -> Result<()> {
    let keys: Vec<KeyInfo> = match access {
        StoreAccess::Server(server) => server.get("/admin/v1/keys").await?,
        StoreAccess::Store(store) => store.api_keys().await?.iter().map(KeyInfo::from).collect(),
    };
    say(&format!("{:14} {:16} {:8} {:24} {}", "ID", "TENANT", "ROLE", "CREATED", "NAME"))?;
    for key in keys {
        let role = match key.role {
            RoleName::Admin => "admin",
            RoleName::Tenant => "tenant",
        };
        let KeyInfo { id, tenant, name, created_at, .. } = key;
        say(&format!("{id:14} {tenant:16} {role:8} {created_at:24} {name}"))?;
    }
    Ok(())
}

async fn revoke(access: &StoreAccess, id: &str) -> Result<KeyInfo> {
    match access {
        StoreAccess::Server(server) => server.delete(&format!("/admin/v1/keys/{id}")).await,
        StoreAccess::Store(store) => {
            let gone = store.remove_api_key(id).await?;
            Ok(KeyInfo::from(&gone.with_context(|| format!("no key with id {id}"))?))
        }
    }
}
