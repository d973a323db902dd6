//! Responses that are given again as long as what they were made from stands.
//!
//! A response holds while its chain has the version at which it was made: an identical request then
//! costs one small read. Beyond that, one that tells of a single resource (a wallet) holds while the
//! resource does not change, however many blocks arrive.
//! In: a canonical request. Must not know: which operations there are, or what they read.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::Version;

use crate::data::response::DataResponse;
use crate::params::Blocks;
use crate::request_key::RequestKey;

/// Most responses are about this large.
const USUAL_BYTES: u64 = 8 << 10;

/// The state of the one resource that a response tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceState {
    /// Journal sequence of its last change.
    pub changed_seq: u64,
    /// What the range of the request means now: a date comes to mean another block.
    pub blocks: Blocks,
}

/// As long as what a response holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Read in the view that the response was made from, never before or after it.
    pub version: Version,
    /// None where any block may change the response.
    pub resource: Option<ResourceState>,
}

#[derive(Clone)]
struct CachedResponse {
    validity: Validity,
    response: DataResponse,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<RequestKey, CachedResponse> for ByBytes {
    fn weight(&self, key: &RequestKey, entry: &CachedResponse) -> u64 {
        (size_of::<RequestKey>() + key.len() + size_of::<CachedResponse>() + entry.response.bytes())
            as u64
    }
}

/// None where the operator allows no memory for it.
pub struct ResponseCache(Option<Cache<RequestKey, CachedResponse, ByBytes>>);

impl ResponseCache {
    pub fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / USUAL_BYTES).unwrap_or(usize::MAX).max(16);
        ResponseCache((bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes)))
    }

    /// The response to the same request at this version of the chain.
    pub fn get(&self, key: &RequestKey, version: Version) -> Option<DataResponse> {
        let entry = self.0.as_ref()?.get(key)?;
        (entry.validity.version == version).then_some(entry.response)
    }

    /// The response to the same request at any version, if its resource is still in this state. Its
    /// coverage may be an older one.
    pub fn get_unchanged(&self, key: &RequestKey, state: ResourceState) -> Option<DataResponse> {
        let entry = self.0.as_ref()?.get(key)?;
        (entry.validity.resource == Some(state)).then_some(entry.response)
    }

    pub fn insert(&self, key: RequestKey, validity: Validity, response: DataResponse) {
        if let Some(cache) = &self.0 {
            cache.insert(key, CachedResponse { validity, response });
        }
    }
}

impl Validity {
    /// Until anything is written of the chain.
    pub fn at(version: Version) -> Self {
        Validity { version, resource: None }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::chain::{ChainId, Operation};
    use store::Coverage;

    use super::*;
    use crate::profile::Profile;

    fn key(n: u64) -> RequestKey {
        RequestKey::new(Operation::NftTrades, ChainId(1), Profile::Spec, &n)
    }

    fn response(body: &str) -> DataResponse {
        DataResponse::ok(body.to_owned(), Arc::new(Coverage::default()), (0, 0))
    }

    fn version(seq: u64) -> Version {
        Version { seq, generation: 0 }
    }

    #[test]
    fn a_response_is_given_again_at_its_own_version_only() {
        let cache = ResponseCache::new(1 << 20);
        cache.insert(key(1), Validity::at(version(5)), response("five"));
        assert_eq!(cache.get(&key(1), version(5)).unwrap().body, "five");
        for other in [version(4), version(6), Version { seq: 5, generation: 1 }] {
            assert!(cache.get(&key(1), other).is_none());
        }
        assert!(cache.get(&key(2), version(5)).is_none());
        let state = ResourceState { changed_seq: 5, blocks: (0, 9) };
        assert!(
            cache.get_unchanged(&key(1), state).is_none(),
            "it tells of more than one resource"
        );
    }

    #[test]
    fn a_response_outlives_blocks_that_do_not_change_its_resource() {
        let cache = ResponseCache::new(1 << 20);
        let state = ResourceState { changed_seq: 3, blocks: (0, 9) };
        let validity = Validity { version: version(5), resource: Some(state) };
        cache.insert(key(1), validity, response("page"));
        assert!(cache.get(&key(1), version(6)).is_none());
        assert_eq!(cache.get_unchanged(&key(1), state).unwrap().body, "page");
        let changed = ResourceState { changed_seq: 6, ..state };
        let other_range = ResourceState { blocks: (0, 10), ..state };
        assert!(cache.get_unchanged(&key(1), changed).is_none());
        assert!(cache.get_unchanged(&key(1), other_range).is_none());
    }

    #[test]
    fn the_cache_stays_within_its_bytes_and_may_have_none() {
        let cache = ResponseCache::new(1 << 20);
        let large = "x".repeat(10_000);
        for n in 0..1_000 {
            cache.insert(key(n), Validity::at(version(1)), response(&large));
        }
        let kept = (0..1_000).filter(|n| cache.get(&key(*n), version(1)).is_some()).count();
        assert!((1..=104).contains(&kept), "{kept} responses of 10 kB in 1 MiB");
        let none = ResponseCache::new(0);
        none.insert(key(1), Validity::at(version(1)), response("page"));
        assert!(none.get(&key(1), version(1)).is_none());
    }
}
