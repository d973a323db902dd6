//! (d) The same blocks as compressed JSON and as compressed RLP, to hold bytes on disk against.

use anyhow::Result;

use crate::raw_block::{RawBlock, parse};
use crate::say;

/// zstd's own default.
const LEVEL: i32 = 3;

pub fn run(raws: &[RawBlock], txs: usize) -> Result<()> {
    let (mut json, mut rlp) = (0, 0);
    for raw in raws {
        let text =
            [raw.block.as_str(), &raw.receipts, raw.traces.as_deref().unwrap_or("")].concat();
        json += zstd::encode_all(text.as_bytes(), LEVEL)?.len();
        rlp += zstd::encode_all(ingest::verify::encoded(&parse(raw)?).as_slice(), LEVEL)?.len();
    }
    let per_tx = |bytes: usize| bytes as f64 / txs as f64;
    say(&format!(
        "  (d) zstd of each block's JSON: {:.0} bytes/tx; of its RLP (header, transactions, receipts; no traces): {:.0} bytes/tx",
        per_tx(json),
        per_tx(rlp)
    ))
}
