//! `headwater digest`: one hash over a chain's rows, to compare two stores.

use std::process::ExitCode;

use anyhow::Result;
use serde::Deserialize;

use super::run_async;
use crate::admin::StoreAccess;
use crate::cli::DigestArgs;
use crate::config::{Flags, Settings, find_or_make, table};
use crate::say;

#[derive(Deserialize)]
struct Digest {
    digest: String,
    coverage: String,
}

pub fn run(args: &DigestArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    let (_, chain) = find_or_make(table(&settings)?, &args.chain)?;
    run_async(async {
        let Digest { digest, coverage } = match StoreAccess::to_existing(&settings).await? {
            StoreAccess::Server(server) => {
                server.get(&format!("/admin/v1/digest/{}", chain.slug)).await?
            }
            StoreAccess::Store(store) => {
                let view = store.view().await?;
                let digest = view.digest(chain.id).await?.to_string();
                Digest { digest, coverage: view.coverage(chain.id).await?.to_string() }
            }
        };
        say(&format!("{digest} {coverage}"))?;
        Ok(ExitCode::SUCCESS)
    })
}
