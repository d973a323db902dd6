//! Brings a store of an older format up to this build's, in place and without a node.
//!
//! Each format has a file that turns it into the next one. Rows are changed a few at a time; each part
//! is one atomic write together with how far it came, so an upgrade that is cut off goes on there.

mod from_3;
mod from_4;
mod from_5;
mod from_7;
mod old_rows;
#[cfg(test)]
mod tests;

use super::engine::{Durability, Op, Slice, Table};
use super::format::FORMAT_KEY;
use super::open_db::OpenDb;
use crate::Error;
use crate::options::{Options, UpgradeProgress};

/// Rows looked at in one go.
const ROWS_AT_ONCE: usize = 4096;
/// How far an upgrade came.
const PLACE_KEY: &str = "upgrade";

/// Opens a store and brings it up.
pub fn open(options: &Options, progress: &dyn Fn(UpgradeProgress)) -> Result<OpenDb, Error> {
    OpenDb::open(options, &|open, format| run(open, format, progress))
}

fn run(open: &OpenDb, format: u32, progress: &dyn Fn(UpgradeProgress)) -> Result<(), Error> {
    let rows_at_once = ROWS_AT_ONCE;
    if format < 4 {
        from_3::run(&Upgrade { open, from: 3, rows_at_once, progress })?;
    }
    if format < 5 {
        from_4::run(&Upgrade { open, from: 4, rows_at_once, progress })?;
    }
    if format < 6 {
        let rows_at_once = from_5::BLOCKS_AT_ONCE;
        from_5::run(&Upgrade { open, from: 5, rows_at_once, progress })?;
    }
    if format < 7 {
        // Bodies of format 6 stay as they are: their frames say what they hold. An older build would not
        // understand those of new blocks.
        Upgrade { open, from: 6, rows_at_once, progress }.finish()?;
    }
    if format < 8 {
        // All other index rows stay in their tables, where they are read as before. An older build would not see those
        // that are in files from now on.
        from_7::run(&Upgrade { open, from: 7, rows_at_once, progress })?;
    }
    if format < 9 {
        // Bodies of webhooks say how they are packed. An older build would not understand new ones.
        Upgrade { open, from: 8, rows_at_once, progress }.finish()?;
    }
    from_5::clear_old_tables(open)
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
        let format = Slice::from((self.from + 1).to_be_bytes());
        let ops = vec![op(FORMAT_KEY, Some(format)), op(PLACE_KEY, None)];
        self.write(ops, Durability::Disk)
    }
}
