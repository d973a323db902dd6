//! Sales of NFTs on marketplaces.

use model::chain::Chain;
use model::facts::Trade;
use model::raw::Block;

pub fn trades(_chain: &Chain, _block: &Block) -> Vec<Trade> {
    Vec::new()
}
