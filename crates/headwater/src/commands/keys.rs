//! `headwater keys`: make, list, revoke. Works beside a running server, which notices.

use std::process::ExitCode;

use anyhow::Result;
use api::clock::now_s;
use api::keys::{KeyFile, KeyRow, fresh, hash};

use crate::cli::{KeysCommand, Where};
use crate::config::{Flags, Settings};
use crate::say;

pub fn run(command: &KeysCommand) -> Result<ExitCode> {
    match command {
        KeysCommand::Create { place, tenant, name, units_per_second } => {
            let key = fresh();
            let hash = hash(&key);
            let sha256: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            file(place)?.add(KeyRow {
                id: sha256.chars().take(12).collect(),
                sha256,
                tenant: tenant.clone(),
                name: name.clone(),
                created_at: api::date::iso_millis_utc(now_s()),
                units_per_second: *units_per_second,
            })?;
            // The one time it is shown.
            say(&key)?;
        }
        KeysCommand::List { place } => {
            let rows = file(place)?.read()?;
            say(&format!("{:14} {:16} {:24} {}", "ID", "TENANT", "CREATED", "NAME"))?;
            for row in rows {
                say(&format!(
                    "{:14} {:16} {:24} {}",
                    row.id, row.tenant, row.created_at, row.name
                ))?;
            }
        }
        KeysCommand::Revoke { place, id } => {
            let row = file(place)?.remove(id)?;
            eprintln!("revoked key {} of tenant {}", row.id, row.tenant);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn file(place: &Where) -> Result<KeyFile> {
    let settings = Settings::load(&Flags::from(place))?;
    Ok(KeyFile::in_folder(&settings.store.path))
}
