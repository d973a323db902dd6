//! Which tokens moved into or out of which pools in one transaction.

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::abi::{TRANSFER, address, topic, words};
use model::raw::Log;

/// Tokens tried for one pool in one transaction. Two are usual; more are there to cost us time.
const TOKENS_MAX: usize = 6;

/// For each of the given contracts the first few tokens that it sent or received.
pub fn through(
    contracts: impl Iterator<Item = Address>,
    logs: &[Log],
) -> HashMap<Address, Vec<Address>> {
    let mut moved: HashMap<Address, Vec<Address>> =
        contracts.map(|contract| (contract, Vec::new())).collect();
    for log in logs {
        let Some((token, from, to)) = transfer(log) else { continue };
        for end in [from, to] {
            // A pair's own shares are burnt by sending them to the pair.
            if end != token
                && let Some(tokens) = moved.get_mut(&end)
                && tokens.len() < TOKENS_MAX
                && !tokens.contains(&token)
            {
                tokens.push(token);
            }
        }
    }
    moved
}

/// Of a fungible token: an NFT's transfer has its number as a fourth topic.
fn transfer(log: &Log) -> Option<(Address, Address, Address)> {
    topic(log, 3, 0).filter(|name| *name == TRANSFER)?;
    let [_amount] = words(log)?;
    Some((log.address?, address(topic(log, 3, 1)?)?, address(topic(log, 3, 2)?)?))
}
