//! What the headers of every data answer say of the blocks it rests on.

use std::fmt::Write;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use store::Coverage;

use crate::params::{Blocks, OPEN_END};
use crate::profile::VARY;
use crate::served_chain::ServedChain;

const INDEXED: HeaderName = HeaderName::from_static("x-indexed-blocks");
const COVERAGE: HeaderName = HeaderName::from_static("x-coverage");
/// A store of many islands would otherwise make headers no client takes.
const RANGES_MAX: usize = 64;
/// Behind the newest ranges where there are more.
const CUT: &str = ",…";

/// The blocks that are stored, and those that the request could be about.
pub struct CoverageHeaders<'a> {
    pub served: &'a ServedChain,
    pub coverage: &'a Coverage,
    pub reach: Blocks,
}

impl CoverageHeaders<'_> {
    /// Every data answer, found or not, carries these.
    pub fn add(&self, headers: &mut HeaderMap) {
        headers.insert(header::VARY, HeaderValue::from_static(VARY));
        if let Ok(value) = HeaderValue::from_bytes(self.indexed().as_bytes()) {
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
        if all.len() > shown.len() {
            text.push_str(CUT);
        }
        text
    }
}

/// An open end reaches as far as the chain is known to go; an end that was asked for reaches that far, whether there
/// are such blocks or not.
fn is_partial(coverage: &Coverage, (from, to): Blocks, node_head: Option<u64>) -> bool {
    if from > to {
        return false;
    }
    let Some(newest) = coverage.newest().max(node_head) else { return true };
    let to = if to == OPEN_END { newest } else { to };
    from > to || !coverage.covers(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::PAST_NEWEST;

    #[test]
    fn partial_means_that_the_question_reaches_outside_of_what_is_stored() {
        let mut coverage = Coverage::default();
        assert!(is_partial(&coverage, (0, u64::MAX), None), "nothing is known at all");
        (10..=20).for_each(|n| coverage.insert(n));
        assert!(is_partial(&coverage, (0, u64::MAX), None));
        assert!(!is_partial(&coverage, (10, u64::MAX), None));
        assert!(!is_partial(&coverage, (12, 15), Some(25)));
        assert!(!is_partial(&coverage, (12, 20), None));
        assert!(
            is_partial(&coverage, (12, 21), None),
            "an end past the newest block was asked for"
        );
        assert!(
            is_partial(&coverage, (21, u64::MAX), None),
            "all of it lies past the newest block"
        );
        assert!(is_partial(&coverage, (12, PAST_NEWEST), None));
        assert!(is_partial(&coverage, (12, u64::MAX), Some(25)), "the node is ahead");
        assert!(!is_partial(&coverage, (5, 3), None), "an empty question misses nothing");
    }
}
