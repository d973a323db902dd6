//! Transactions, logs and traces as formats before 6 keep them: groups of rows in tables of their own.

use model::chain::ChainId;

use crate::Error;
use crate::embedded::engine::Snapshot;
use crate::embedded::keys;
use crate::embedded::segments::{BodyGroups, Kind};
use crate::embedded::tables::Tables;

/// Chain and number of a header's key.
pub fn block_of(key: &[u8]) -> Result<(ChainId, u64), Error> {
    let broken = Error::Broken { what: "key of a header" };
    let parts = key.split_first_chunk::<8>();
    let parts = parts.and_then(|(chain, number)| Some((*chain, number.try_into().ok()?)));
    let (chain, number) = parts.ok_or(broken)?;
    Ok((ChainId(u64::from_be_bytes(chain)), u64::from_be_bytes(number)))
}

/// The rows of a block.
pub fn groups_of(
    snapshot: &Snapshot,
    t: &Tables,
    (chain, number): (ChainId, u64),
) -> Result<BodyGroups, Error> {
    let mut groups = BodyGroups::default();
    for (kind, table) in Kind::ALL.into_iter().zip([&t.txs, &t.logs, &t.traces]) {
        let range = keys::in_block(chain, number, 0)..=keys::in_block(chain, number, u32::MAX);
        for item in snapshot.range(table, range) {
            let (key, row) = item.into_inner()?;
            let group = key.last_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes));
            let group = group.ok_or(Error::Broken { what: "key of a group" })?;
            kind.of_mut(&mut groups).push((group, row.to_vec()));
        }
    }
    Ok(groups)
}
