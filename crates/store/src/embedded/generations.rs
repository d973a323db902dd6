//! The row that says which reading of the blocks is in use.

use model::chain::ChainId;

use super::codec::generations::unpack;
use super::keys;
use super::read::View;
use crate::Error;
use crate::generations::Generations;

impl View {
    pub fn generations(&self, chain: ChainId) -> Result<Generations, Error> {
        match self.snapshot.get(&self.tables.generations, keys::chain(chain))? {
            Some(row) => unpack(&row).ok_or(Error::Broken { what: "list of generations" }),
            None => Ok(Generations::default()),
        }
    }
}
