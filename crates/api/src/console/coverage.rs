//! `GET /console/api/coverage/{chain}`: which blocks of the chain are stored, and how far they are proven, in as many
//! pieces as can be drawn.
//!
//! How much of a piece is stored is exact. Its proof level is that of one of its blocks: looking at all of them would
//! be reading the chain.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use store::Coverage;

use super::recent_answers::Asked;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;
use crate::served_chain::ServedChain;

/// It changes slowly, and is looked at by every page.
const LASTS: Duration = Duration::from_secs(5);

/// What a screen can show.
const PIECES: u64 = 96;

pub async fn coverage(
    State(app): State<App>,
    Path(chain): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let served = app.served_by_name(&chain)?;
    let asked = Asked::Coverage(served.chain.id);
    app.recent_answers.give((asked, LASTS), &headers, drawn(&app, served)).await
}

async fn drawn(app: &App, served: &ServedChain) -> Result<Value, ApiError> {
    let id = served.chain.id;
    let view = app.parts.store.view().await?;
    let stored = view.coverage(id).await?;
    let newest = stored.newest().unwrap_or(0).max(served.node_head().map_or(0, |head| head.number));
    let mut pieces = Vec::new();
    for (from, to) in cut(newest) {
        let blocks = to - from + 1 - stored.missing(from, to);
        let block = match sample(&stored, from, to) {
            Some(number) => view.block_summary(id, number).await?,
            None => None,
        };
        pieces.push(json!({
            "from": from, "to": to, "stored": blocks,
            "sampled": block.as_ref().map(|block| block.number),
            "level": block.as_ref().map(|block| block.proof.level().name()),
            "has_traces": block.as_ref().map(|block| block.has_traces),
        }));
    }
    Ok(json!({ "from": 0, "to": newest, "pieces": pieces }))
}

/// Nearly equal pieces of the blocks up to `newest`, without a gap.
fn cut(newest: u64) -> Vec<(u64, u64)> {
    let blocks = u128::from(newest) + 1;
    let pieces = u128::from(PIECES).min(blocks);
    let start = |piece: u128| (blocks * piece / pieces) as u64;
    (0..pieces).map(|piece| (start(piece), (blocks * (piece + 1) / pieces - 1) as u64)).collect()
}

/// The newest stored block of a piece.
fn sample(stored: &Coverage, from: u64, to: u64) -> Option<u64> {
    let ranges = stored.ranges().iter().rev();
    ranges.map(|range| (range.0.max(from), range.1.min(to))).find(|(a, b)| a <= b).map(|(_, b)| b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_many_as_fit_and_leave_nothing_out() {
        for newest in [0, 1, 5, 95, 96, 97, 1_000, 21_000_000, u64::MAX] {
            let pieces = cut(newest);
            assert_eq!(pieces.len() as u128, u128::from(PIECES).min(u128::from(newest) + 1));
            assert_eq!((pieces[0].0, pieces[pieces.len() - 1].1), (0, newest));
            assert!(pieces.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{newest}");
        }
    }

    #[test]
    fn a_piece_is_told_by_its_newest_stored_block() {
        let mut stored = Coverage::default();
        [3, 4, 5, 20].into_iter().for_each(|number| stored.insert(number));
        assert_eq!(sample(&stored, 0, 9), Some(5));
        assert_eq!(sample(&stored, 0, 4), Some(4));
        assert_eq!(sample(&stored, 6, 19), None);
        assert_eq!(sample(&stored, 6, 30), Some(20));
    }
}
