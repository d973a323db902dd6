//! Ingest against simulated nodes that are slow, lost, reorganised or dishonest: whatever happens on
//! the way, the store ends as if the final chain had been indexed from scratch.

#[cfg(test)]
mod audit;
#[cfg(test)]
mod audit_anvil;
#[cfg(test)]
mod audit_ledger;
#[cfg(test)]
mod backfill;
#[cfg(test)]
mod chain_choice;
#[cfg(test)]
mod changed_fields;
#[cfg(test)]
mod changed_transfers;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod files;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod follow;
#[cfg(test)]
mod junction;
#[cfg(test)]
mod liars;
#[cfg(test)]
mod panics;
#[cfg(test)]
mod pruned;
#[cfg(test)]
mod redecode;
#[cfg(test)]
mod reorgs;
#[cfg(test)]
mod retain;
#[cfg(test)]
mod retrace;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod untraced;
#[cfg(test)]
mod verify;
