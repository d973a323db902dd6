//! Who acts on the simulated chain: wallets with keys, contracts, block producers, and their names.
//!
//! Everything is derived from the seed. Wallet 0 is the busiest (an exchange), the last one the
//! quietest. Contracts here have no code; scenarios say what they do.

use super::market::Market;
use alloy_primitives::{Address, B256, Keccak256, keccak256};
use rand::{Rng, rngs::StdRng};
use secp256k1::{SECP256K1, SecretKey};

/// An account that signs.
#[derive(Clone, Debug)]
pub struct Wallet {
    pub address: Address,
    pub key: SecretKey,
}

/// The contracts that scenarios call.
#[derive(Clone, Debug)]
pub struct Contracts {
    pub splitter: Address,
    pub router: Address,
    /// Hops of the deep call chain, outermost first.
    pub hops: [Address; 5],
    pub vault: Address,
    pub factory: Address,
    pub proxy: Address,
    pub implementation: Address,
    pub lent_code: Address,
    pub tokens: [Address; 3],
    pub nft: Address,
}

#[derive(Clone, Debug)]
pub struct Actors {
    pub wallets: Vec<Wallet>,
    pub contracts: Contracts,
    /// What is traded for what.
    pub market: Market,
    /// Plain addresses that never sign and are never the target of a transaction.
    pub internal_only: [Address; 3],
    pub miners: [Address; 3],
    pub validators: [Address; 4],
}

/// Wallets with a name come first in the list, in this order.
const NAMED_WALLETS: [&str; 3] = ["exchange", "whale", "deployer"];

impl Actors {
    pub fn new(seed: u64, wallets: usize) -> Self {
        let at = |what: &str| Address::from_word(derive(seed, what, 0));
        let nth = |what: &str, n: u64| Address::from_word(derive(seed, what, n));
        let tokens = std::array::from_fn(|n| nth("token", n as u64));
        Self {
            wallets: (0..wallets.max(8) as u64).map(|n| wallet(seed, n)).collect(),
            contracts: Contracts {
                splitter: at("splitter"),
                router: at("router"),
                hops: std::array::from_fn(|n| nth("hop", n as u64)),
                vault: at("vault"),
                factory: at("factory"),
                proxy: at("proxy"),
                implementation: at("implementation"),
                lent_code: at("library"),
                tokens,
                nft: at("nft"),
            },
            market: Market::new(tokens),
            internal_only: std::array::from_fn(|n| nth("internal-only", n as u64)),
            miners: std::array::from_fn(|n| nth("miner", n as u64)),
            validators: std::array::from_fn(|n| nth("validator", n as u64)),
        }
    }

    /// Names worth showing to a person, with the address each stands for.
    pub fn named(&self) -> Vec<(&'static str, Address)> {
        let wallets = NAMED_WALLETS.iter().copied().zip(self.wallets.iter().map(|w| w.address));
        let [internal_only, ..] = self.internal_only;
        let [miner, ..] = self.miners;
        let [validator, ..] = self.validators;
        let [token, ..] = self.contracts.tokens;
        wallets
            .chain([
                ("internal-only", internal_only),
                ("miner", miner),
                ("validator", validator),
                ("vault", self.contracts.vault),
                ("splitter", self.contracts.splitter),
                ("router", self.contracts.router),
                ("factory", self.contracts.factory),
                ("token", token),
                ("nft", self.contracts.nft),
            ])
            .collect()
    }

    /// Contracts that hold coins from the start, because they pay out of their own pocket.
    pub fn funded_contracts(&self) -> Vec<Address> {
        let Contracts { splitter, router, hops, vault, factory, proxy, .. } = &self.contracts;
        let mut list = vec![*splitter, *router, *vault, *factory, *proxy];
        list.extend(hops);
        list
    }

    /// A wallet, the front of the list far more often than its tail: the cube of a uniform number
    /// gives the first of 1,000 wallets a tenth of all picks.
    pub fn busy_wallet(&self, rng: &mut StdRng) -> Option<&Wallet> {
        let place: f64 = rng.random::<f64>().powi(3) * self.wallets.len() as f64;
        self.wallets.get(place as usize).or(self.wallets.first())
    }

    pub fn any_wallet(&self, rng: &mut StdRng) -> Address {
        let place = rng.random_range(0..self.wallets.len().max(1));
        self.wallets.get(place).map(|w| w.address).unwrap_or_default()
    }
}

/// A hash that depends on the seed, a word and a number, for anything that needs to be made up.
pub(crate) fn derive(seed: u64, what: &str, n: u64) -> B256 {
    let mut hasher = Keccak256::new();
    hasher.update(seed.to_be_bytes());
    hasher.update(what);
    hasher.update(n.to_be_bytes());
    hasher.finalize()
}

fn wallet(seed: u64, n: u64) -> Wallet {
    let mut secret = derive(seed, "wallet", n);
    let key = loop {
        // One hash in 2^128 is no key; the next one is.
        match SecretKey::from_byte_array(secret.0) {
            Ok(key) => break key,
            Err(_) => secret = keccak256(secret),
        }
    };
    Wallet { address: address_of(&key), key }
}

fn address_of(key: &SecretKey) -> Address {
    let public = key.public_key(SECP256K1).serialize_uncompressed();
    let [_prefix, point @ ..] = public;
    Address::from_word(keccak256(point))
}
