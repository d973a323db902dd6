//! The hash of a header, recomputed from its fields.

use alloy_primitives::{B256, keccak256};
use alloy_rlp::Encodable;
use model::raw::Header;

use super::rlp::put_list;

/// Fields that nodes add beside the header and that are not part of its hash.
const BESIDE: [&str; 7] = [
    "author",
    "l1BlockNumber",
    "milliTimestamp",
    "sendCount",
    "sendRoot",
    "totalDifficulty",
    "slot",
];

/// `None` where a field of the common form is missing (AuRa seals, for one).
pub fn header_hash(header: &Header) -> Option<B256> {
    encode(header).map(keccak256)
}

/// The header's own bytes, under the same condition.
pub fn encode(header: &Header) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(700);
    let (parent, uncles, miner) = (header.parent_hash?, header.sha3_uncles?, header.miner?);
    let (state, txs, receipts) =
        (header.state_root?, header.transactions_root?, header.receipts_root?);
    let (bloom, difficulty, number) = (header.logs_bloom?, header.difficulty?, header.number?);
    let (gas_limit, gas_used, time) = (header.gas_limit?, header.gas_used?, header.timestamp?);
    let (extra, mix, nonce) = (header.extra_data.as_ref()?, header.mix_hash?, header.nonce?);
    put_list(&mut out, |out| {
        parent.encode(out);
        uncles.encode(out);
        miner.encode(out);
        state.encode(out);
        txs.encode(out);
        receipts.encode(out);
        bloom.encode(out);
        difficulty.encode(out);
        number.encode(out);
        gas_limit.encode(out);
        gas_used.encode(out);
        time.encode(out);
        extra.encode(out);
        mix.encode(out);
        nonce.encode(out);
        put_fork_fields(header, out);
    });
    Some(out)
}

/// What London, Shanghai, Cancun and Prague appended, each only where the ones before it are there.
fn put_fork_fields(header: &Header, out: &mut Vec<u8>) {
    let Some(base_fee) = header.base_fee_per_gas else { return };
    base_fee.encode(out);
    let Some(withdrawals) = header.withdrawals_root else { return };
    withdrawals.encode(out);
    let (Some(used), Some(excess)) = (header.blob_gas_used, header.excess_blob_gas) else { return };
    used.encode(out);
    excess.encode(out);
    let Some(beacon) = header.parent_beacon_block_root else { return };
    beacon.encode(out);
    let Some(requests) = header.requests_hash else { return };
    requests.encode(out);
}

/// Whether the header has a field that may be part of a hash we do not know how to make.
pub fn has_unknown_fields(header: &Header) -> bool {
    header.extras.iter().any(|(name, _)| !BESIDE.contains(&name.as_ref()))
}
