//! One step of the chain: from a parent and the state after it to the next sealed block.

use super::{
    SimConfig,
    actors::Actors,
    block::{BlockEffects, SimBlock},
    builder::BlockBuilder,
    draft::Prices,
    fees::next_fees,
    seal,
    state::State,
    transaction::SimTx,
    withdrawal::Withdrawal,
};
use alloy_primitives::Keccak256;
use rand::{Rng, SeedableRng, rngs::StdRng};

const WEI_PER_GWEI: u128 = 1_000_000_000;

/// What stays the same along one branch.
pub(super) struct Origin<'a> {
    pub config: &'a SimConfig,
    pub actors: &'a Actors,
    pub branch: u64,
}

pub(super) fn next_block(
    origin: &Origin,
    parent: &SimBlock,
    state: &mut State,
    dropped: &mut Vec<SimTx>,
) -> SimBlock {
    let fees = next_fees(&parent.header);
    let mut rng = rng_after(origin, parent);
    let [often, sometimes, rarely] = origin.actors.miners;
    let miner = match rng.random_range(0..10) {
        0..6 => often,
        6..9 => sometimes,
        _ => rarely,
    };
    let mut builder = BlockBuilder {
        config: origin.config,
        actors: origin.actors,
        state,
        rng,
        prices: Prices {
            chain_id: origin.config.chain_id,
            base_fee: u128::from(fees.base_fee),
            blob_price: fees.blob_price,
        },
        number: parent.number() + 1,
        timestamp: parent.header.timestamp + origin.config.block_time_s,
        miner,
        gas_limit: seal::gas_limit(origin.config),
        blobs_max: fees.blobs_max,
        recent: parent.txs.iter().filter_map(SimTx::created).collect(),
        txs: Vec::with_capacity(origin.config.txs_per_block),
        gas_used: 0,
        blobs: 0,
        log_count: 0,
    };
    builder.fill(dropped);
    let withdrawals = withdraw(&mut builder);
    let changes = builder.state.take_changes();
    let effects = BlockEffects { withdrawals, changes, pools: builder.state.pools.clone() };
    let header = seal::header(&mut builder, parent, &fees, &effects);
    SimBlock::seal(header, builder.txs, effects, origin.config.keep_text)
}

/// A block depends on the seed, its parent and the branch, not on how many were asked for at once.
fn rng_after(origin: &Origin, parent: &SimBlock) -> StdRng {
    let mut hasher = Keccak256::new();
    hasher.update(origin.config.seed.to_be_bytes());
    hasher.update(parent.hash);
    hasher.update(origin.branch.to_be_bytes());
    StdRng::from_seed(hasher.finalize().0)
}

/// Staking rewards, paid after all transactions; one in four goes to a wallet that also acts itself.
fn withdraw(builder: &mut BlockBuilder) -> Vec<Withdrawal> {
    let count = builder.config.withdrawals_per_block as u64;
    let first = builder.number.saturating_sub(1) * count;
    let mut list = Vec::new();
    for index in first..first + count {
        let validators = builder.actors.validators;
        let validator_index = builder.rng.random_range(0..1_000_000u64);
        let validator = validators.get(validator_index as usize % 4).copied().unwrap_or_default();
        let address = match validator_index % 3 {
            0 => builder.actors.any_wallet(&mut builder.rng),
            _ => validator,
        };
        let amount: u64 = builder.rng.random_range(10_000_000..60_000_000);
        builder.state.credit(address, u128::from(amount) * WEI_PER_GWEI);
        list.push(Withdrawal { index, validator_index, address, amount });
    }
    list
}
