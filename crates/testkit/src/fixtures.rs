//! Finds the real chain data that lies beside the project, and says so aloud when it is not there.

use std::path::{Path, PathBuf};

/// `$HEADWATER_FIXTURES`, else `shared/fixtures` beside the workspace.
pub fn fixtures_dir() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("HEADWATER_FIXTURES") {
        return Some(PathBuf::from(named)).filter(|dir| dir.is_dir());
    }
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned);
    let here = std::env::current_dir().ok();
    // The built-in path fails where the binary was moved to another machine; the current folder may not.
    let roots =
        built_in.into_iter().chain(here.iter().flat_map(|dir| dir.ancestors()).map(Path::to_owned));
    roots.map(|root| root.join("../shared/fixtures")).find(|dir| dir.is_dir())
}

/// A test that cannot run must not look like one that passed.
pub fn skip(what: &str) {
    eprintln!("SKIPPED: {what}: fixtures not found (set HEADWATER_FIXTURES to the folder)");
}
