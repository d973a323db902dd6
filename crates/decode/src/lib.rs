//! From raw blocks to facts: sales of NFTs, what pools hold.
//!
//! In: one block with receipts and traces, and its chain's table. Out: [`Facts`]. Pure: no network,
//! clock, store or order, so a block can be read anew at any time with the same result.

pub mod dex;
mod fingerprint;
pub mod nft;

use model::chain::Chain;
use model::facts::Facts;
use model::raw::Block;

pub use fingerprint::fingerprint;

/// Raised when a decoder finds more or other facts in the same block than before.
pub const VERSION: u32 = 2;

/// What is known of one chain, made ready once and used for all its blocks, from any thread.
pub struct Decoder {
    nft: nft::Nft,
    dex: dex::Dex,
}

impl Decoder {
    pub fn new(chain: &Chain) -> Self {
        Decoder { nft: nft::Nft::new(chain), dex: dex::Dex::new(chain) }
    }

    pub fn decode(&self, block: &Block) -> Facts {
        Facts { trades: self.nft.trades(block), pools: self.dex.pools(block) }
    }
}
