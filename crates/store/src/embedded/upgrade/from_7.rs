//! Format 8: rows of runs go into files, and no longer into tables.
//!
//! A build of format 7 that was ended while it folded left rows of its runs in tables already. They are in the runs, too, which
//! are made again at every start; here they go from the tables, so that a row is in one place.

use super::Upgrade;
use crate::Error;
use crate::embedded::engine::{Durability, Op, Slice};
use crate::embedded::keys;
use crate::embedded::runs::{Run, RunTable};

pub fn run(upgrade: &Upgrade) -> Result<(), Error> {
    let runs = upgrade.open.runs.now();
    for run in runs.all() {
        for table in RunTable::ALL {
            remove_rows(upgrade, run, table)?;
        }
    }
    upgrade.finish()
}

/// Removing a row that is not there does no harm.
fn remove_rows(upgrade: &Upgrade, run: &Run, of: RunTable) -> Result<(), Error> {
    let all = upgrade.open.tables.all();
    let Some((_, table)) = all.iter().find(|(_, table)| table.in_runs() == Some(of)) else {
        return Ok(());
    };
    let rows: Vec<usize> = (0..run.rows(of)).collect();
    for some in rows.chunks(upgrade.rows_at_once) {
        let remove = |index: &usize| {
            let key = [keys::chain(run.chain).as_slice(), run.row(of, *index).0].concat();
            Op { table: (*table).clone(), key: Slice::from(key), value: None }
        };
        upgrade.write(some.iter().map(remove).collect(), Durability::Process)?;
    }
    Ok(())
}
