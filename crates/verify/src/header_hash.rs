//! The hash of a header, recomputed from its fields.

use alloy_primitives::{B256, keccak256};
use alloy_rlp::Encodable;
use model::raw::Header;
use model::rlp::put_list;

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

/// London, Shanghai, Cancun (three) and Prague each appended fields; so many are there from Shanghai on.
pub const FORK_FIELDS_WITH_WITHDRAWALS: usize = 2;
/// From Prague on.
pub const FORK_FIELDS_WITH_REQUESTS: usize = 6;

/// The hash over all fields that are there. `None` where a field of the common form is missing (AuRa
/// seals, for one), or one of a fork while a later one is there.
pub fn header_hash(header: &Header) -> Option<B256> {
    encode(header).map(keccak256)
}

/// The header's own bytes, under the same condition.
pub fn encode(header: &Header) -> Option<Vec<u8>> {
    let fields = ForkFields::of(header);
    fields.rest_is_blank(fields.in_a_row()).then_some(())?;
    encode_with(header, fields.all.get(..fields.in_a_row())?)
}

/// With how many fields of forks the header has this hash. A field that the block's fork does not have
/// may be there with nothing but zeros in it: some nodes fill in all they know of.
pub fn fork_fields(header: &Header, hash: B256) -> Option<usize> {
    let fields = ForkFields::of(header);
    let mut count = fields.in_a_row();
    loop {
        if !fields.rest_is_blank(count) {
            return None;
        }
        if keccak256(encode_with(header, fields.all.get(..count)?)?) == hash {
            return Some(count);
        }
        count = count.checked_sub(1)?;
    }
}

struct ForkFields {
    /// In the order in which they stand in the header.
    all: [Option<ForkField>; FORK_FIELDS_WITH_REQUESTS],
}

struct ForkField {
    encoded: Vec<u8>,
    is_blank: bool,
}

impl ForkFields {
    fn of(header: &Header) -> Self {
        fn field<T: Encodable + Default + PartialEq>(value: Option<T>) -> Option<ForkField> {
            let value = value?;
            Some(ForkField { encoded: alloy_rlp::encode(&value), is_blank: value == T::default() })
        }
        let all = [
            field(header.base_fee_per_gas),
            field(header.withdrawals_root),
            field(header.blob_gas_used),
            field(header.excess_blob_gas),
            field(header.parent_beacon_block_root),
            field(header.requests_hash),
        ];
        ForkFields { all }
    }

    /// How many are there before the first that is not.
    fn in_a_row(&self) -> usize {
        self.all.iter().take_while(|field| field.is_some()).count()
    }

    fn rest_is_blank(&self, from: usize) -> bool {
        self.all.iter().skip(from).flatten().all(|field| field.is_blank)
    }
}

fn encode_with(header: &Header, forks: &[Option<ForkField>]) -> Option<Vec<u8>> {
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
        forks.iter().flatten().for_each(|field| out.extend_from_slice(&field.encoded));
    });
    Some(out)
}

/// Whether the header has a field that may be part of a hash we do not know how to make.
pub fn has_unknown_fields(header: &Header) -> bool {
    header.extras.iter().any(|(name, _)| !BESIDE.contains(&name.as_ref()))
}

/// The header's bytes with so many fields of forks.
pub fn encode_first(header: &Header, fork_fields: usize) -> Option<Vec<u8>> {
    encode_with(header, ForkFields::of(header).all.get(..fork_fields)?)
}
