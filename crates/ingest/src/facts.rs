//! Decoding with an eye on doubt: facts that a block does not bear out are kept and counted.

use decode::Decoder;
use model::facts::Facts;
use model::raw::Block;

pub fn decode(decoder: &Decoder, slug: &str, block: &Block) -> Facts {
    let facts = decoder.decode(block);
    let doubtful = facts.trades.iter().filter(|trade| !trade.reconciled).count() as u64;
    for (name, count) in [
        ("headwater_trades_decoded_total", facts.trades.len() as u64),
        // Trades whose transfers or payments are not all there; rows of the live profile say so.
        ("headwater_trades_unreconciled_total", doubtful),
    ] {
        if count > 0 {
            metrics::counter!(name, "chain" => slug.to_owned()).increment(count);
        }
    }
    facts
}
