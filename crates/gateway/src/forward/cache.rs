//! Answers of nodes that cannot change, bounded by bytes.
//!
//! What follows from a block named by its hash is kept at once, what follows from a number or a transaction only
//! when its block is final. `null` and empty lists are not kept: what is not there may come. When the chain becomes
//! another one (`chain_era`), everything by number is forgotten.

use bytes::Bytes;
use model::chain::ChainId;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

use super::about::About;
use super::chain_era::ChainEra;
use crate::methods::{Finality, Method, Place};

/// Most answers are about this large.
const USUAL_BYTES: u64 = 1 << 10;
/// What an entry takes beside its texts.
const ENTRY_BYTES: u64 = 128;
/// A larger answer would put out too many others.
const SHARE_MAX: u64 = 16;

/// What is asked; the id of a request is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    pub chain: ChainId,
    pub method: &'static str,
    pub params: Box<str>,
    /// Of what was kept by number: raised when the chain becomes another. Zero for what was kept by hash.
    era: u64,
}

/// The same to look for, without a copy of the text. Its fields are hashed in the same order.
#[derive(Hash)]
struct ByHash<'a> {
    chain: ChainId,
    method: &'static str,
    params: &'a str,
    era: u64,
}

impl Equivalent<CacheKey> for ByHash<'_> {
    fn equivalent(&self, key: &CacheKey) -> bool {
        (self.chain, self.method, self.params, self.era)
            == (key.chain, key.method, &*key.params, key.era)
    }
}

impl CacheKey {
    /// Whether it holds only as long as the chain is the same.
    pub fn is_of_era(&self) -> bool {
        self.era > 0
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<CacheKey, Bytes> for ByBytes {
    fn weight(&self, key: &CacheKey, answer: &Bytes) -> u64 {
        key.params.len() as u64 + answer.len() as u64 + ENTRY_BYTES
    }
}

pub struct AnswerCache {
    /// None where the operator allows no memory for it.
    answers: Option<Cache<CacheKey, Bytes, ByBytes>>,
    bytes_max: u64,
}

/// Where a chain stands.
#[derive(Clone, Copy, Debug)]
pub struct ChainHead {
    pub head: u64,
    /// So many blocks below the head are final.
    pub confirmations: u64,
}

impl ChainHead {
    fn is_final(&self, number: u64) -> bool {
        number.saturating_add(self.confirmations) <= self.head
    }
}

impl AnswerCache {
    pub fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / USUAL_BYTES).unwrap_or(usize::MAX).max(16);
        let answers = (bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes));
        AnswerCache { answers, bytes_max }
    }

    /// None where the answer could not be kept whatever it is.
    pub fn key(
        &self,
        (chain, method): (ChainId, &'static Method),
        params: &str,
        about: About,
        (era, at): (&ChainEra, ChainHead),
    ) -> Option<CacheKey> {
        self.answers.as_ref().filter(|_| method.place != Place::Forward)?;
        let era = match (method.finality, about) {
            (Finality::Block, About::Hash(_)) => 0,
            (Finality::Block, About::Blocks { to, .. }) if at.is_final(to) => era.at(at.head),
            (Finality::Transaction, About::Transaction(_)) => era.at(at.head),
            _ => return None,
        };
        Some(CacheKey { chain, method: method.name, params: params.into(), era })
    }

    /// What follows from a block that is named by its hash alone.
    pub fn by_hash(
        &self,
        (chain, method): (ChainId, &'static Method),
        params: &str,
    ) -> Option<Bytes> {
        self.answers.as_ref()?.get(&ByHash { chain, method: method.name, params, era: 0 })
    }

    pub fn insert_by_hash(
        &self,
        (chain, method): (ChainId, &'static Method),
        params: &str,
        answer: &Bytes,
    ) {
        let key = CacheKey { chain, method: method.name, params: params.into(), era: 0 };
        self.put(key, answer);
    }

    pub fn get(&self, key: &CacheKey) -> Option<Bytes> {
        self.answers.as_ref()?.get(key)
    }

    pub fn insert(
        &self,
        key: CacheKey,
        about: About,
        answer: &Bytes,
        (era, at): (&ChainEra, ChainHead),
    ) {
        let newest = match about {
            About::Blocks { to, .. } => to,
            About::Transaction(_) => match block_of(answer).filter(|number| at.is_final(*number)) {
                Some(number) => number,
                None => return,
            },
            _ => 0,
        };
        if self.put(key, answer) {
            era.keeps(newest);
        }
    }

    /// Whether it is kept.
    fn put(&self, key: CacheKey, answer: &Bytes) -> bool {
        let Some(answers) = &self.answers else { return false };
        if is_nothing(answer) || answer.len() as u64 > self.bytes_max / SHARE_MAX {
            return false;
        }
        // Its own copy: a small answer must not keep a large body alive.
        answers.insert(key, Bytes::copy_from_slice(answer));
        true
    }

    pub fn bytes(&self) -> u64 {
        self.answers.as_ref().map_or(0, Cache::weight)
    }

    pub fn entries(&self) -> usize {
        self.answers.as_ref().map_or(0, Cache::len)
    }
}

fn is_nothing(answer: &[u8]) -> bool {
    matches!(answer, b"null" | b"[]" | b"\"0x\"")
}

/// The block that a transaction's answer says it stands in.
fn block_of(answer: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InBlock {
        block_number: serde_json::Value,
    }
    let one = |found: InBlock| match found.block_number {
        serde_json::Value::String(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        number => number.as_u64(),
    };
    if answer.starts_with(b"[") {
        let list: Vec<InBlock> = serde_json::from_slice(answer).ok()?;
        return list.into_iter().map(one).collect::<Option<Vec<u64>>>()?.into_iter().max();
    }
    one(serde_json::from_slice(answer).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::find;
    use alloy_primitives::B256;

    const CHAIN: ChainId = ChainId(1);

    fn at(head: u64) -> ChainHead {
        ChainHead { head, confirmations: 10 }
    }

    /// Whether an answer is given again.
    fn keeps(method: &str, params: &str, answer: &'static str) -> bool {
        let (cache, era, method) =
            (AnswerCache::new(1 << 20), ChainEra::default(), find(method).unwrap());
        let about = About::of(method, params);
        let key = || cache.key((CHAIN, method), params, about, (&era, at(100)));
        let Some(asked) = key() else { return false };
        cache.insert(asked, about, &Bytes::from_static(answer.as_bytes()), (&era, at(100)));
        cache.get(&key().unwrap()).is_some()
    }

    #[test]
    fn only_what_cannot_change_is_kept() {
        let hash = B256::repeat_byte(1);
        let by_hash = format!(r#"["{hash}",false]"#);
        let tx = format!(r#"["{hash}"]"#);
        for (method, params, answer, kept) in [
            ("eth_getBlockByHash", by_hash.as_str(), "{}", true),
            ("eth_getBlockByHash", &by_hash, "null", false),
            ("eth_getBlockByNumber", r#"["0x5a",false]"#, "{}", true),
            ("eth_getBlockByNumber", r#"["0x5b",false]"#, "{}", false),
            ("eth_getBlockByNumber", r#"["latest",false]"#, "{}", false),
            ("eth_getBlockByNumber", r#"["finalized",false]"#, "{}", false),
            ("eth_getLogs", r#"[{"fromBlock":"0x1","toBlock":"0x5a"}]"#, "[1]", true),
            ("eth_getLogs", r#"[{"fromBlock":"0x1","toBlock":"0x5a"}]"#, "[]", false),
            ("eth_getLogs", r#"[{"fromBlock":"0x1","toBlock":"0x64"}]"#, "[1]", false),
            ("eth_getTransactionReceipt", &tx, r#"{"blockNumber":"0x5a"}"#, true),
            ("eth_getTransactionReceipt", &tx, r#"{"blockNumber":"0x5b"}"#, false),
            ("eth_getTransactionReceipt", &tx, r#"{"blockNumber":null}"#, false),
            ("eth_getTransactionReceipt", &tx, "null", false),
            ("trace_transaction", &tx, r#"[{"blockNumber":90}]"#, true),
            ("trace_transaction", &tx, r#"[{"blockNumber":91}]"#, false),
            ("debug_traceTransaction", &tx, r#"{"gas":1}"#, false),
            ("eth_call", r#"[{},"0x1"]"#, r#""0x01""#, true),
            ("eth_call", "[{}]", r#""0x01""#, false),
            ("eth_estimateGas", r#"[{},"0x1"]"#, r#""0x01""#, false),
            ("eth_gasPrice", "[]", r#""0x01""#, false),
        ] {
            assert_eq!(keeps(method, params, answer), kept, "{method} {params} {answer}");
        }
    }

    #[test]
    fn a_chain_that_starts_over_is_another_one() {
        let (cache, era) = (AnswerCache::new(1 << 20), ChainEra::default());
        let by_number = find("eth_getBlockByNumber").unwrap();
        let params = r#"["0x50",false]"#;
        let about = About::of(by_number, params);
        let key = |head| cache.key((CHAIN, by_number), params, about, (&era, at(head)));
        cache.insert(key(100).unwrap(), about, &Bytes::from_static(b"{}"), (&era, at(100)));
        assert!(cache.get(&key(100).unwrap()).is_some());
        assert!(cache.get(&key(95).unwrap()).is_some(), "a small reorg");
        assert!(key(79).is_none());
        // Asked about something else meanwhile, the cache sees that the head fell.
        let other = r#"["0x1",false]"#;
        let _ = cache.key((CHAIN, by_number), other, About::of(by_number, other), (&era, at(79)));
        assert!(cache.get(&key(100).unwrap()).is_none());
    }

    #[test]
    fn it_stays_within_its_bytes_and_may_have_none() {
        let (cache, era) = (AnswerCache::new(1 << 20), ChainEra::default());
        let method = find("eth_getBlockByHash").unwrap();
        let answer = Bytes::from(vec![b'x'; 10_000]);
        let key = |n: u64| {
            let hash = B256::from(alloy_primitives::U256::from(n));
            cache.key((CHAIN, method), &n.to_string(), About::Hash(hash), (&era, at(1))).unwrap()
        };
        for n in 0..1000 {
            cache.insert(key(n), About::Hash(B256::ZERO), &answer, (&era, at(1)));
        }
        let kept = (0..1000).filter(|n| cache.get(&key(*n)).is_some()).count();
        assert!((1..=104).contains(&kept), "{kept}");
        assert!(cache.bytes() <= 1 << 20);
        let none = AnswerCache::new(0);
        assert!(none.key((CHAIN, method), "", About::Hash(B256::ZERO), (&era, at(1))).is_none());
    }
}
