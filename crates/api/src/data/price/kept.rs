//! Price answers kept as long as the journal stands still: any block may change a price.

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::asked::Asked;

#[derive(Clone)]
struct Kept {
    version: u64,
    body: Bytes,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Asked, Kept> for ByBytes {
    fn weight(&self, _: &Asked, kept: &Kept) -> u64 {
        (size_of::<Asked>() + size_of::<Kept>() + kept.body.len()) as u64
    }
}

pub struct PriceAnswers(Option<Cache<Asked, Kept, ByBytes>>);

impl PriceAnswers {
    pub fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / 2048).unwrap_or(usize::MAX).max(16);
        PriceAnswers((bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes)))
    }

    pub fn get(&self, asked: &Asked, version: u64) -> Option<Bytes> {
        let kept = self.0.as_ref()?.get(asked)?;
        (kept.version == version).then_some(kept.body)
    }

    pub fn keep(&self, asked: Asked, version: u64, body: Bytes) {
        if let Some(cache) = &self.0 {
            cache.insert(asked, Kept { version, body });
        }
    }
}
