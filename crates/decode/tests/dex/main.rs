//! What the pool decoders say about made-up and about real blocks.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod attribution;
mod cousins;
mod elsewhere;
mod encode;
mod families;
mod files;
mod ledger;
mod mainnet;
mod otherchains;
mod sequences;
mod wallets;
mod weth;
