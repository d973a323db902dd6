//! The form in which rows are written, as a number that stands in the store itself.

use std::path::Path;

use fjall::Database;

use super::engine::{self, Table};
use crate::Error;

/// Written at creation, checked at every start. Raised when rows change their form.
pub const FORMAT: u32 = 9;
/// Where rows of a backup are brought up from: it has those of bodies and not how they are laid out.
pub const ROWS_FORMAT: u32 = 5;
/// The oldest that can be brought up.
const OLDEST: u32 = 3;
pub const FORMAT_KEY: &str = "format";
/// In the place of a format while rows of a backup are written, so that nobody takes a part for the whole.
pub const RESTORING: u32 = u32::MAX;

/// The format that the folder has; a new one has this build's.
pub fn format_of((db, path): (&Database, &Path), meta: &Table) -> Result<u32, Error> {
    let Some(found) = meta.get(FORMAT_KEY)? else {
        meta.insert(FORMAT_KEY, FORMAT.to_be_bytes())?;
        engine::persist(db).map_err(|error| engine::failed("write", path, error))?;
        return Ok(FORMAT);
    };
    let found = found.as_ref().try_into().map_or(0, u32::from_be_bytes);
    if found == RESTORING {
        let why =
            "holds part of a backup: a restore did not come to its end. Empty it, restore again";
        return Err(Error::Backup { path: path.to_owned(), why: why.to_owned() });
    }
    check_format(path, found)?;
    Ok(found)
}

/// Whether this build can read rows of that format.
pub fn check_format(path: &Path, found: u32) -> Result<(), Error> {
    if (OLDEST..=FORMAT).contains(&found) {
        return Ok(());
    }
    let path = path.to_owned();
    Err(Error::UnknownFormat { path, found, oldest: OLDEST, newest: FORMAT })
}
