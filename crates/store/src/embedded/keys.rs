//! Key bytes. Numbers are big-endian, inverted where the newest comes first, so that one question
//! is one forward scan.

use alloy_primitives::{Address, B256, U256};
use model::chain::ChainId;
use model::facts::{Market, PoolId};

use super::counts::TOTAL;
use super::log_words::LogWord;

/// Parts joined to one key of known length.
macro_rules! join {
    ($length:literal: $($part:expr),+) => {{
        use std::io::Write;
        let mut key = [0u8; $length];
        let mut rest = key.as_mut_slice();
        // The parts fill the key exactly, which the tests see to; writing cannot fail otherwise.
        $(let _ = rest.write_all($part.as_ref());)+
        debug_assert!(rest.is_empty());
        key
    }};
}
pub(super) use join;

/// Chain, block number.
pub fn block(chain: ChainId, number: u64) -> [u8; 16] {
    join!(16: chain.0.to_be_bytes(), number.to_be_bytes())
}

/// Chain, block number, index in the block.
pub fn in_block(chain: ChainId, number: u64, index: u32) -> [u8; 20] {
    join!(20: chain.0.to_be_bytes(), number.to_be_bytes(), index.to_be_bytes())
}

pub fn by_hash(chain: ChainId, hash: B256) -> [u8; 40] {
    join!(40: chain.0.to_be_bytes(), hash)
}

/// As much of a transaction's hash as its index holds.
pub fn start_of_hash(hash: B256) -> [u8; 8] {
    hash.first_chunk::<8>().copied().unwrap_or_default()
}

pub fn txs_of_hash(chain: ChainId, start: [u8; 8]) -> [u8; 16] {
    join!(16: chain.0.to_be_bytes(), start)
}

pub fn tx_by_hash(chain: ChainId, start: [u8; 8], number: u64, index: u32) -> [u8; 28] {
    join!(28: txs_of_hash(chain, start), number.to_be_bytes(), index.to_be_bytes())
}

/// Number and index at the end of a `tx_by_hash` key.
pub fn place_of_tx(key: &[u8]) -> Option<(u64, u32)> {
    let (rest, index) = key.split_last_chunk::<4>()?;
    Some((last_number(rest)?, u32::from_be_bytes(*index)))
}

/// Number and group of an `in_block` key.
pub fn place_of_group(key: &[u8]) -> Option<(u64, u32)> {
    place_of_tx(key)
}

pub fn log_word(chain: ChainId, word: LogWord, number: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + 6 + 1 + size_of::<u64>());
    key.extend_from_slice(&chain.0.to_be_bytes());
    key.extend_from_slice(&word);
    put_short_number(&mut key, number);
    key
}

/// As short as it can be with its length in front, which sorts the same.
pub fn put_short_number(out: &mut Vec<u8>, number: u64) {
    let number = number.to_be_bytes();
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    out.push((number.len() - zeros) as u8);
    out.extend(number.iter().skip(zeros));
}

/// None where there is anything else.
pub fn short_number(bytes: &[u8]) -> Option<u64> {
    let (length, digits) = bytes.split_first()?;
    if digits.len() != usize::from(*length) || digits.len() > size_of::<u64>() {
        return None;
    }
    Some(digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit)))
}

/// The block at the end of a `log_word` key.
pub fn number_of_log_word(key: &[u8]) -> Option<u64> {
    short_number(key.get(14..)?)
}

/// Several blocks may share a second, so the number is part of the key.
pub fn by_time(chain: ChainId, timestamp: u64, number: u64) -> [u8; 24] {
    join!(24: chain.0.to_be_bytes(), timestamp.to_be_bytes(), number.to_be_bytes())
}

pub fn chain(chain: ChainId) -> [u8; 8] {
    chain.0.to_be_bytes()
}

/// In the table of what the store knows of itself: the chain's newest journal entry and generation.
pub fn version(chain: ChainId) -> [u8; 16] {
    join!(16: VERSIONS, chain.0.to_be_bytes())
}

/// In front of every chain's version.
pub const VERSIONS: &[u8] = b"version/";

/// In the same table: the oldest journal entry that is kept.
pub fn journal_tail(chain: ChainId) -> [u8; 13] {
    join!(13: b"tail/", chain.0.to_be_bytes())
}

/// In the same table: up to where the chain's oldest blocks were pruned.
pub fn pruned(chain: ChainId) -> [u8; 15] {
    join!(15: b"pruned/", chain.0.to_be_bytes())
}

/// In the same table: up to which commit the chain's runs of index rows are in files.
pub fn folded(chain: ChainId) -> [u8; 15] {
    join!(15: FOLDED, chain.0.to_be_bytes())
}

/// In front of every chain's.
pub const FOLDED: &[u8] = b"folded/";

/// In the same table: which set of index files counts.
pub const INDEX_FILES_VERSION: &[u8] = b"index files";

/// Of a `block` key.
pub fn chain_and_number(key: &[u8]) -> Option<(ChainId, u64)> {
    let (chain, number) = key.split_first_chunk::<8>()?;
    Some((ChainId(u64::from_be_bytes(*chain)), u64::from_be_bytes(number.try_into().ok()?)))
}

/// Chain, block number, newest first.
pub fn newest_first(chain: ChainId, number: u64) -> [u8; 16] {
    join!(16: chain.0.to_be_bytes(), (!number).to_be_bytes())
}

/// Chain, name of a reader.
pub fn reader(chain: ChainId, name: &str) -> Vec<u8> {
    [chain.0.to_be_bytes().as_slice(), name.as_bytes()].concat()
}

/// All rows of a reader, as a prefix: with its length in front, no name is the beginning of another.
pub fn rows_of_reader(chain: ChainId, name: &str) -> Vec<u8> {
    let length = (name.len() as u64).to_be_bytes();
    [chain.0.to_be_bytes().as_slice(), &length, name.as_bytes()].concat()
}

/// All rows of a wallet, as a prefix.
pub fn of_wallet(chain: ChainId, address: Address) -> [u8; 28] {
    join!(28: chain.0.to_be_bytes(), address)
}

/// Newest first: inverted block number and index.
pub fn wallet(chain: ChainId, address: Address, number: u64, index: u32) -> [u8; 40] {
    join!(40: chain.0.to_be_bytes(), address, (!number).to_be_bytes(), (!index).to_be_bytes())
}

/// The block number and the place in it at the end of a `wallet` or `trade` key, both inverted.
pub fn place_at_end(key: &[u8]) -> Option<(u64, u32)> {
    let (rest, index) = key.split_last_chunk::<4>()?;
    let (_, number) = rest.split_last_chunk::<8>()?;
    Some((!u64::from_be_bytes(*number), !u32::from_be_bytes(*index)))
}

pub fn count(chain: ChainId, address: Address, level: u8, bucket: u64) -> [u8; 37] {
    join!(37: chain.0.to_be_bytes(), address, [level], bucket.to_be_bytes())
}

/// Whether a `count` key is that of a wallet's total.
pub fn is_total(key: &[u8]) -> bool {
    key.get(28) == Some(&TOTAL)
}

/// Chain and generation: in front of everything that decoders found.
pub fn of_facts(chain: ChainId, generation: u8) -> [u8; 9] {
    join!(9: chain.0.to_be_bytes(), [generation])
}

pub fn facts(chain: ChainId, generation: u8, number: u64) -> [u8; 17] {
    join!(17: of_facts(chain, generation), number.to_be_bytes())
}

/// The sales of a contract on one market, or on any.
#[derive(Clone, Copy)]
pub struct SalesOf {
    pub chain: ChainId,
    pub generation: u8,
    pub contract: Address,
    pub market: Option<Market>,
}

impl SalesOf {
    fn prefix(&self) -> [u8; 30] {
        let market = self.market.map_or(u8::MAX, Market::code);
        join!(30: of_facts(self.chain, self.generation), self.contract, [market])
    }

    /// Newest first.
    pub fn trade(&self, number: u64, place: u32) -> [u8; 42] {
        join!(42: self.prefix(), (!number).to_be_bytes(), (!place).to_be_bytes())
    }

    /// All prices of a bucket, lowest first.
    pub fn bucket(&self, level: u8, bucket: u64) -> [u8; 39] {
        join!(39: self.prefix(), [level], bucket.to_be_bytes())
    }

    /// Lowest first, then oldest first.
    pub fn price(&self, bucket: (u8, u64), price: U256, at: (u64, u32)) -> [u8; 83] {
        let (number, place) = (at.0.to_be_bytes(), at.1.to_be_bytes());
        let bucket = self.bucket(bucket.0, bucket.1);
        join!(83: bucket, price.to_be_bytes::<32>(), number, place)
    }
}

/// Bucket, price, number and place at the end of a `price` key.
pub fn end_of_price_key(key: &[u8]) -> Option<(u64, U256, u64, u32)> {
    let (rest, place) = key.split_last_chunk::<4>()?;
    let (rest, number) = rest.split_last_chunk::<8>()?;
    let (rest, price) = rest.split_last_chunk::<32>()?;
    let (number, place) = (u64::from_be_bytes(*number), u32::from_be_bytes(*place));
    Some((last_number(rest)?, U256::from_be_bytes(*price), number, place))
}

/// A pool's id with what kind it is in front, so that no id is the beginning of another.
fn pool_id(id: &PoolId) -> Vec<u8> {
    let mut bytes = vec![id.as_slice().len() as u8];
    bytes.extend_from_slice(id.as_slice());
    bytes
}

pub fn pools_of(chain: ChainId, generation: u8, token: Address) -> [u8; 29] {
    join!(29: of_facts(chain, generation), token)
}

pub fn pools_between(
    chain: ChainId,
    generation: u8,
    (token, other): (Address, Address),
) -> [u8; 49] {
    join!(49: pools_of(chain, generation, token), other)
}

pub fn pool(chain: ChainId, generation: u8, pair: (Address, Address), id: &PoolId) -> Vec<u8> {
    [pools_between(chain, generation, pair).as_slice(), &pool_id(id)].concat()
}

/// The id at the end of a `pool` key.
pub fn id_of_pool_key(key: &[u8]) -> Option<PoolId> {
    PoolId::from_slice(key.get(50..)?)
}

/// Chain, token.
pub fn token(chain: ChainId, address: Address) -> [u8; 28] {
    join!(28: chain.0.to_be_bytes(), address)
}

/// Newest first.
pub fn pool_state(chain: ChainId, generation: u8, id: &PoolId, number: u64) -> Vec<u8> {
    let prefix = of_facts(chain, generation);
    [prefix.as_slice(), &pool_id(id), &(!number).to_be_bytes()].concat()
}

/// What is known of a pool's witnesses; keys of `told_by` begin with it.
pub fn pool_witness(chain: ChainId, generation: u8, id: &PoolId) -> Vec<u8> {
    [of_facts(chain, generation).as_slice(), &pool_id(id)].concat()
}

/// Newest first.
pub fn told_by(chain: ChainId, generation: u8, id: &PoolId, number: u64) -> Vec<u8> {
    pool_state(chain, generation, id, number)
}

/// The block of a `told_by` key that begins with this `pool_witness`.
pub fn teller_of(key: &[u8], witness: &[u8]) -> Option<u64> {
    let number: &[u8; 8] = key.strip_prefix(witness)?.try_into().ok()?;
    Some(!u64::from_be_bytes(*number))
}

/// No pool's id begins like this.
const IN_BLOCK: u8 = 255;

pub fn told_in_block(chain: ChainId, generation: u8, number: u64) -> Vec<u8> {
    [of_facts(chain, generation).as_slice(), &[IN_BLOCK], &number.to_be_bytes()].concat()
}

/// A key of `told_pools`, taken apart.
#[derive(Debug, PartialEq)]
pub enum ToldKey {
    Witness(PoolId),
    ToldBy(PoolId, u64),
    InBlock(u64),
}

/// `None` means that it is no such key.
pub fn told_key(key: &[u8]) -> Option<ToldKey> {
    let (kind, rest) = key.get(9..)?.split_first()?;
    if *kind == IN_BLOCK {
        return Some(ToldKey::InBlock(u64::from_be_bytes(rest.try_into().ok()?)));
    }
    let (id, rest) = rest.split_at_checked(usize::from(*kind))?;
    let id = PoolId::from_slice(id)?;
    match rest.len() {
        0 => Some(ToldKey::Witness(id)),
        _ => Some(ToldKey::ToldBy(id, !u64::from_be_bytes(rest.try_into().ok()?))),
    }
}

/// Chain, pool.
pub fn carried_pool(chain: ChainId, id: &PoolId) -> Vec<u8> {
    [chain.0.to_be_bytes().as_slice(), &pool_id(id)].concat()
}

/// The last eight bytes as a number: sequence, bucket or block number.
pub fn last_number(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_of_told_pools_are_told_apart() {
        for id in [PoolId::Contract([255; 20].into()), PoolId::V4([255; 32].into())] {
            let witness = pool_witness(ChainId(7), 3, &id);
            let told = told_by(ChainId(7), 3, &id, 42);
            assert_eq!(told_key(&witness), Some(ToldKey::Witness(id)));
            assert_eq!(told_key(&told), Some(ToldKey::ToldBy(id, 42)));
            assert_eq!(teller_of(&told, &witness), Some(42));
            assert_eq!(teller_of(&witness, &witness), None);
        }
        assert_eq!(told_key(&told_in_block(ChainId(7), 3, 42)), Some(ToldKey::InBlock(42)));
        assert_eq!(told_key(&[0; 12]), None);
    }

    proptest! {
        #[test]
        fn key_bytes_sort_like_keys(
            (c1, c2) in (0u64..3, 0u64..3),
            (a1, a2) in (any::<[u8; 20]>(), any::<[u8; 20]>()),
            (n1, n2) in (any::<u64>(), any::<u64>()),
            (i1, i2) in (any::<u32>(), any::<u32>()),
            same in any::<bool>(),
        ) {
            let (c1, c2) = (ChainId(c1), ChainId(c2));
            let (a1, a2) = (Address::from(a1), Address::from(if same { a1 } else { a2 }));
            let n2 = if same && i1 % 2 == 0 { n1 } else { n2 };
            prop_assert_eq!(block(c1, n1).cmp(&block(c2, n2)), (c1, n1).cmp(&(c2, n2)));
            prop_assert_eq!(
                in_block(c1, n1, i1).cmp(&in_block(c2, n2, i2)),
                (c1, n1, i1).cmp(&(c2, n2, i2))
            );
            prop_assert_eq!(
                by_time(c1, n1, u64::from(i1)).cmp(&by_time(c2, n2, u64::from(i2))),
                (c1, n1, i1).cmp(&(c2, n2, i2))
            );
            // Newest first within a wallet.
            prop_assert_eq!(
                wallet(c1, a1, n1, i1).cmp(&wallet(c2, a2, n2, i2)),
                (c1, a1).cmp(&(c2, a2)).then((n2, i2).cmp(&(n1, i1)))
            );
            let (l1, l2) = ((i1 % 3) as u8, (i2 % 3) as u8);
            prop_assert_eq!(
                count(c1, a1, l1, n1).cmp(&count(c2, a2, l2, n2)),
                (c1, a1, l1, n1).cmp(&(c2, a2, l2, n2))
            );
            let (w1, w2) = ([i1 as u8 & 1; 6], [i2 as u8 & 1; 6]);
            let (n1s, n2s) = (n1 >> (i1 % 64), n2 >> (i2 % 64));
            prop_assert_eq!(
                log_word(c1, w1, n1s).cmp(&log_word(c2, w2, n2s)),
                (c1, w1, n1s).cmp(&(c2, w2, n2s))
            );
            prop_assert_eq!(number_of_log_word(&log_word(c1, w1, n1s)), Some(n1s));
            prop_assert_eq!(place_of_tx(&tx_by_hash(c1, [7; 8], n1, i1)), Some((n1, i1)));
            prop_assert_eq!(place_of_group(&in_block(c1, n1, i1)), Some((n1, i1)));
            prop_assert_eq!(place_at_end(&wallet(c1, a1, n1, i1)), Some((n1, i1)));
            prop_assert_eq!(last_number(&block(c1, n1)), Some(n1));
        }
    }
}
