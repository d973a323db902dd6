//! `headwater digest`: one hash over a chain's rows. Two stores of the same chain agree on it.

use std::process::ExitCode;

use anyhow::Result;
use store::Store;

use crate::cli::DigestArgs;
use crate::config::{Flags, Settings, find_or_make, table};
use crate::say;

pub fn run(args: &DigestArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    let (_, chain) = find_or_make(table(&settings)?, &args.chain)?;
    let store = Store::open(&store::Options::new(&settings.store.path))?;
    let view = store.view();
    say(&format!("{} {}", view.digest(chain.id)?, view.coverage(chain.id)?))?;
    Ok(ExitCode::SUCCESS)
}
