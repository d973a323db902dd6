//! Matching on blocks made by hand, on the simulated chain and on real blocks.

mod agreement;
pub(crate) mod made_block;
mod memory;
mod naive;
pub(crate) mod needs;
pub(crate) mod plans;
mod rules;
mod slots;
