//! Addresses under which no token is stored. Most addresses on a page are wallets: looking each of them up again would cost
//! more than writing its row.

use std::time::{Duration, Instant};

use alloy_primitives::Address;
use model::chain::ChainId;
use quick_cache::sync::Cache;

const REMEMBERED: usize = 50_000;
/// Another process on the same store may learn of a token meanwhile.
const BELIEVED_FOR: Duration = Duration::from_secs(60);

/// What was known when a question was asked; to be taken before the view that it is answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTokens {
    /// How many contracts told what they are.
    pub resolved: u64,
    pub at: Instant,
}

pub struct NotTokens(Cache<(ChainId, Address), KnownTokens>);

impl NotTokens {
    pub fn new() -> Self {
        NotTokens(Cache::new(REMEMBERED))
    }

    pub fn has(&self, (chain, address): (ChainId, Address), now: KnownTokens) -> bool {
        self.0.get(&(chain, address)).is_some_and(|then| {
            then.resolved == now.resolved && now.at.duration_since(then.at) < BELIEVED_FOR
        })
    }

    pub fn insert(&self, (chain, address): (ChainId, Address), now: KnownTokens) {
        self.0.insert((chain, address), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_believed_until_a_token_is_learned_and_not_for_long() {
        let (not_tokens, of) = (NotTokens::new(), (ChainId(1), Address::repeat_byte(7)));
        let then = KnownTokens { resolved: 3, at: Instant::now() };
        assert!(!not_tokens.has(of, then));
        not_tokens.insert(of, then);
        assert!(not_tokens.has(of, then));
        assert!(!not_tokens.has((ChainId(2), of.1), then));
        assert!(!not_tokens.has(of, KnownTokens { resolved: 4, ..then }), "one was learned");
        let later = KnownTokens { at: then.at + BELIEVED_FOR, ..then };
        assert!(!not_tokens.has(of, later), "perhaps by another process");
    }
}
