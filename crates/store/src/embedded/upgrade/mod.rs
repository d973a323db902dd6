//! Brings a store of an older format up to this build's, in place and without a node.
//!
//! Each format has a file that turns it into the next one. Rows are changed a few at a time; each part
//! is one atomic write together with how far it came, so an upgrade that is cut off goes on there.

mod from_3;
#[cfg(test)]
mod tests;

use std::path::Path;

use fjall::Database;

use super::engine::{self, Durability, Op, Slice, Table};
use super::open_db::OpenDb;
use super::tables::Tables;
use crate::Error;
use crate::options::UpgradeProgress;

/// Written at creation, checked at every start. Raised when rows change their form.
pub const FORMAT: u32 = 4;
/// The oldest that can be brought up.
const OLDEST: u32 = 3;
pub const FORMAT_KEY: &str = "format";
/// In the place of a format while rows of a backup are written, so that nobody takes a part for the whole.
pub const RESTORING: u32 = u32::MAX;
/// Rows looked at in one go.
const ROWS_AT_ONCE: usize = 4096;
/// How far an upgrade came.
const PLACE_KEY: &str = "upgrade";

/// The format that the folder has; a new one has this build's.
pub fn format_of((db, path): (&Database, &Path)) -> Result<u32, Error> {
    let meta = Tables::open_meta((db, path))?;
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

pub fn run(open: &OpenDb, format: u32, progress: &dyn Fn(UpgradeProgress)) -> Result<(), Error> {
    if format < 4 {
        let rows_at_once = ROWS_AT_ONCE;
        from_3::run(&Upgrade { open, from: 3, rows_at_once, progress })?;
    }
    Ok(())
}

/// What a step of an upgrade works with.
struct Upgrade<'a> {
    open: &'a OpenDb,
    from: u32,
    rows_at_once: usize,
    progress: &'a dyn Fn(UpgradeProgress),
}

impl Upgrade<'_> {
    fn tell(&self, done: u64, total: u64) {
        let (from_format, to_format) = (self.from, self.from + 1);
        (self.progress)(UpgradeProgress { from_format, to_format, done, total });
    }

    fn meta(&self) -> &Table {
        &self.open.tables.meta
    }

    fn write(&self, ops: Vec<Op>, durability: Durability) -> Result<(), Error> {
        self.open.write(ops, durability, None).map_err(|failure| failure.error)
    }

    /// The number of the step that is under way, and the last key that is done.
    fn place(&self) -> Result<(u8, Vec<u8>), Error> {
        let row = self.meta().get(PLACE_KEY)?;
        let place = row.as_deref().and_then(<[u8]>::split_first);
        Ok(place.map_or((0, Vec::new()), |(step, key)| (*step, key.to_vec())))
    }

    /// The new format counts from here on.
    fn finish(&self) -> Result<(), Error> {
        let op = |key: &str, value| Op {
            table: self.meta().clone(),
            key: Slice::from(key.as_bytes()),
            value,
        };
        // In one write: a place that is left over would be taken for that of the next upgrade.
        let format = (self.from + 1).to_be_bytes().to_vec();
        let ops = vec![op(FORMAT_KEY, Some(format)), op(PLACE_KEY, None)];
        self.write(ops, Durability::Disk)
    }
}
