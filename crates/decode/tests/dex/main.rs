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
mod encode;
mod families;
mod files;
mod mainnet;
mod otherchains;
mod sequences;
mod weth;
