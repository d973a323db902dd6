//! Who decoded something: one hash over the decoders' version and all they know of a chain. Facts of
//! two fingerprints may differ, facts of one never do.

use alloy_primitives::{B256, Keccak256};
use model::chain::Chain;

use crate::VERSION;

/// The same on every run and platform. Names that only people read are left out.
pub fn fingerprint(chain: &Chain) -> B256 {
    let mut sum = Sum(Keccak256::new());
    sum.number(u64::from(VERSION));
    sum.list("marketplaces", &chain.marketplaces, |sum, marketplace| {
        sum.bytes(marketplace.name.as_bytes());
        sum.list("contracts", &marketplace.contracts, |sum, contract| {
            sum.bytes(contract.protocol.as_bytes());
            sum.bytes(contract.version.as_bytes());
            sum.bytes(contract.address.as_slice());
        });
    });
    sum.list("exchanges", &chain.exchanges, |sum, exchange| {
        sum.bytes(exchange.kind.name.as_bytes());
        sum.bytes(exchange.factory.as_slice());
        sum.bytes(exchange.deployer.as_ref().map_or(&[], |it| it.as_slice()));
        sum.bytes(exchange.init_code_hash.as_ref().map_or(&[], |it| it.as_slice()));
        sum.list("fees", &exchange.fees, |sum, fee| sum.number(u64::from(*fee)));
        sum.list("tick spacings", &exchange.tick_spacings, |sum, it| sum.number(u64::from(*it)));
    });
    sum.list("wrapped", chain.wrapped.as_slice(), |sum, it| sum.bytes(it.address.as_slice()));
    sum.list("stables", &chain.stables, |sum, stable| {
        sum.bytes(stable.address.as_slice());
        sum.number(u64::from(stable.decimals));
    });
    sum.list("native pools", &chain.native_pools, |sum, it| sum.bytes(it.address.as_slice()));
    sum.0.finalize()
}

/// Everything with its length in front: no two lists read the same.
struct Sum(Keccak256);

impl Sum {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn list<T>(&mut self, name: &str, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.bytes(name.as_bytes());
        self.number(items.len() as u64);
        items.iter().for_each(|item| each(self, item));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use alloy_primitives::{Address, keccak256};
    use model::chain::{ChainId, ChainTable, NativePool, PrivateChain, Stable, Wrapped};

    use super::*;

    fn eth() -> Chain {
        ChainTable::builtin().unwrap().find("eth").unwrap().clone()
    }

    #[test]
    fn everything_that_decoders_know_counts_and_nothing_else() {
        let mut seen = HashMap::from([(fingerprint(&eth()), "as it is")]);
        let mut differs = |what: &'static str, change: &dyn Fn(&mut Chain)| {
            let mut chain = eth();
            change(&mut chain);
            assert_ne!(chain, eth(), "{what}: the test changes nothing");
            assert_eq!(seen.insert(fingerprint(&chain), what), None, "{what}");
        };
        let other = Address::repeat_byte(7);
        differs("a marketplace less", &|chain| drop(chain.marketplaces.pop()));
        differs("a contract less", &|c| drop(c.marketplaces[0].contracts.pop()));
        differs("another contract", &|c| c.marketplaces[0].contracts[0].address = other);
        differs("another protocol", &|c| c.marketplaces[0].contracts[0].version = "x".into());
        differs("an exchange less", &|chain| drop(chain.exchanges.pop()));
        differs("another factory", &|chain| chain.exchanges[0].factory = other);
        differs("another deployer", &|chain| chain.exchanges[0].deployer = Some(other));
        differs("another code", &|c| c.exchanges[0].init_code_hash = Some(B256::repeat_byte(7)));
        differs("another fee", &|chain| chain.exchanges[0].fees.push(7));
        differs("another spacing", &|chain| chain.exchanges[0].tick_spacings.push(7));
        differs("no wrapped coin", &|chain| chain.wrapped = None);
        differs("another wrapped coin", &|chain| {
            chain.wrapped = Some(Wrapped { symbol: "X".into(), address: other });
        });
        differs("one more stable", &|chain| {
            chain.stables.push(Stable { address: other, ..chain.stables[0].clone() });
        });
        differs("one more native pool", &|chain| {
            chain.native_pools.push(NativePool { name: "X".into(), address: other });
        });

        let mut named = eth();
        named.confirmations += 1;
        named.block_time_ms += 1;
        named.names.push("mine".into());
        named.exchanges[0].name = "Renamed".into();
        assert_eq!(fingerprint(&named), fingerprint(&eth()));
    }

    #[test]
    fn of_a_chain_that_nothing_is_known_of_only_the_version_is_left() {
        let table = ChainTable::builtin().unwrap();
        let table = table.with_private(PrivateChain::new(ChainId(1337), "bare")).unwrap();
        let mut spelled = u64::from(VERSION).to_be_bytes().to_vec();
        for name in ["marketplaces", "exchanges", "wrapped", "stables", "native pools"] {
            spelled.extend((name.len() as u64).to_be_bytes());
            spelled.extend(name.bytes());
            spelled.extend([0; 8]);
        }
        assert_eq!(fingerprint(table.find("bare").unwrap()), keccak256(spelled));
    }
}
