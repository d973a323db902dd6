//! What the headers of every data answer say: what it cost, and which blocks it rests on.

use std::fmt::Write;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use store::Coverage;

use crate::hosts::WEIGHT;
use crate::params::Blocks;
use crate::profile::VARY;
use crate::served_chain::ServedChain;

const INDEXED: HeaderName = HeaderName::from_static("x-indexed-blocks");
const COVERAGE: HeaderName = HeaderName::from_static("x-coverage");
/// A store of many islands would otherwise make headers no client takes.
const RANGES_MAX: usize = 64;

/// The blocks that are stored, and those that the request could be about.
pub struct CoverageHeaders<'a> {
    pub served: &'a ServedChain,
    pub coverage: &'a Coverage,
    pub reach: Blocks,
}

impl CoverageHeaders<'_> {
    /// Every data answer, found or not, carries these.
    pub fn add(&self, headers: &mut HeaderMap, units: u32) {
        headers.insert(header::VARY, HeaderValue::from_static(VARY));
        headers.insert(WEIGHT, HeaderValue::from(units));
        if let Ok(value) = HeaderValue::from_str(&self.indexed()) {
            headers.insert(INDEXED, value);
        }
        let node_head = self.served.node_head().map(|head| head.number);
        if is_partial(self.coverage, self.reach, node_head) {
            headers.insert(COVERAGE, HeaderValue::from_static("partial"));
        }
    }

    fn indexed(&self) -> String {
        let all = self.coverage.ranges();
        let shown = all.get(all.len().saturating_sub(RANGES_MAX)..).unwrap_or_default();
        let mut text = String::with_capacity(24);
        for (from, to) in shown {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}{from}-{to}");
        }
        text
    }
}

/// Blocks that do not exist yet are not missing.
fn is_partial(coverage: &Coverage, (from, to): Blocks, node_head: Option<u64>) -> bool {
    if from > to {
        return false;
    }
    let Some(newest) = coverage.newest().max(node_head) else { return true };
    let to = to.min(newest);
    from <= to && !coverage.covers(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_means_that_an_existing_block_of_the_question_is_missing() {
        let mut coverage = Coverage::default();
        assert!(is_partial(&coverage, (0, u64::MAX), None), "nothing is known at all");
        (10..=20).for_each(|n| coverage.insert(n));
        assert!(is_partial(&coverage, (0, u64::MAX), None));
        assert!(!is_partial(&coverage, (10, u64::MAX), None));
        assert!(!is_partial(&coverage, (12, 15), Some(25)));
        assert!(is_partial(&coverage, (12, u64::MAX), Some(25)), "the node is ahead");
        assert!(!is_partial(&coverage, (5, 3), None), "an empty question misses nothing");
    }
}
