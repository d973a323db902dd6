//! Builds one block on top of a parent.
//!
//! In: parent, state, a seeded random source, transactions a reorg dropped. Out: the sealed block;
//! the state is the one after it. The steps of a transaction stand in `add_new` from top to bottom.

use super::{
    SimConfig,
    actors::{Actors, Wallet},
    deposit,
    draft::{Draft, Gas, Prices, Shape},
    envelope::{Envelope, SignedAuthorization, TxType},
    fork::Fork,
    scenario::{Kind, Pace, Plan, ScenarioContext},
    state::State,
    transaction::SimTx,
};
use alloy_primitives::{Address, Bloom, BloomInput, keccak256};
use rand::{Rng, rngs::StdRng};

const GWEI: u128 = 1_000_000_000;
/// Below this a wallet stays quiet, so nobody ever overdraws.
const POOR: u128 = 1_000 * GWEI * GWEI;

pub(super) struct BlockBuilder<'a> {
    pub config: &'a SimConfig,
    pub actors: &'a Actors,
    pub state: &'a mut State,
    pub rng: StdRng,
    pub prices: Prices,
    pub number: u64,
    pub timestamp: u64,
    pub miner: Address,
    pub gas_limit: u64,
    pub blobs_max: usize,
    pub recent: Vec<Address>,
    pub txs: Vec<SimTx>,
    pub gas_used: u64,
    pub blobs: usize,
    pub log_count: u64,
}

impl<'a> BlockBuilder<'a> {
    pub fn fill(&mut self, dropped: &mut Vec<SimTx>) {
        if self.config.op_stack {
            self.add_deposit();
        }
        self.add_dropped(dropped);
        let first = self.txs.len();
        for place in first..self.config.txs_per_block {
            // The first transaction walks through all kinds and shapes, so even a thin chain has them.
            if place == first {
                self.add_new(Kind::nth(self.number), Shape::nth(self.number));
            } else if place <= first + self.config.pool_trades_per_block {
                let shape = Shape::pick(&mut self.rng);
                self.add_new(Kind::PoolTrade, shape);
            } else if place + self.config.nft_sales_per_block >= self.config.txs_per_block {
                let shape = Shape::pick(&mut self.rng);
                self.add_new(Kind::NftSale, shape);
            } else {
                let pace = self.pace();
                let (kind, shape) = (Kind::pick(&mut self.rng, pace), Shape::pick(&mut self.rng));
                self.add_new(kind, shape);
            }
        }
    }

    /// Takes back transactions of a dropped branch that are still valid, in their old order: in a real
    /// reorg most transactions show up again, in another place.
    fn add_dropped(&mut self, dropped: &mut Vec<SimTx>) {
        let room = self.config.txs_per_block / 2;
        let mut later = Vec::new();
        for tx in dropped.drain(..) {
            let is_next = self.state.nonce(tx.from) == tx.envelope.tx.nonce;
            let pays = tx.envelope.tx.max_fee_per_gas >= self.prices.base_fee;
            let can_pay = self.state.balance(tx.from) > POOR / 2;
            if self.txs.len() >= room {
                later.push(tx);
            } else if is_portable(&tx) && is_next && pays && can_pay {
                let gas = Gas { intrinsic: tx.intrinsic_gas, limit: tx.envelope.tx.gas_limit };
                let plan = Plan {
                    root: tx.trace,
                    creates: tx.contract_address,
                    moves: tx.inner_moves,
                    logs: tx.logs,
                    sale: tx.sale,
                };
                self.include(tx.kind, tx.from, tx.envelope, plan, gas);
            }
        }
        *dropped = later;
    }

    /// What the chain below tells this one, first of all.
    fn add_deposit(&mut self) {
        let nonce = self.state.nonce(deposit::DEPOSITOR);
        let (envelope, plan, gas) = deposit::system_deposit(self.number, nonce, &mut self.rng);
        self.include(Kind::Deposit, deposit::DEPOSITOR, envelope, plan, gas);
    }

    fn add_new(&mut self, kind: Kind, shape: Shape) {
        let Some(signer) = self.signer() else { return };
        let nonce = self.state.nonce(signer.address);
        let plan = kind.plan(&mut ScenarioContext {
            rng: &mut self.rng,
            actors: self.actors,
            state: self.state,
            sender: signer.address,
            nonce,
            time: self.timestamp,
            recent: &self.recent,
        });
        let (shape, blobs) = self.allowed_shape(shape, &plan);
        let authorizations = match shape {
            Shape::SetCode => self.authorizations(signer.address),
            _ => Vec::new(),
        };
        let draft = Draft { shape, prices: self.prices, signer, nonce, blobs, authorizations };
        let (envelope, gas) = draft.sign(&plan, &mut self.rng);
        self.include(kind, signer.address, envelope, plan, gas);
    }

    /// Settles gas, moves the coins and appends the transaction with its receipt.
    fn include(&mut self, kind: Kind, from: Address, envelope: Envelope, mut plan: Plan, gas: Gas) {
        plan.root.settle_gas(gas.limit - gas.intrinsic);
        let gas_used = gas.intrinsic + plan.root.gas_used;
        self.gas_used += gas_used;
        let blob_gas_used = envelope.tx.blob_gas_used();
        let tx = SimTx {
            kind,
            hash: envelope.hash,
            from,
            succeeded: plan.succeeds(),
            state_root: (self.config.fork < Fork::Byzantium).then(|| keccak256(envelope.hash)),
            contract_address: plan.creates,
            intrinsic_gas: gas.intrinsic,
            gas_used,
            cumulative_gas_used: self.gas_used,
            effective_gas_price: envelope.tx.effective_gas_price(self.prices.base_fee),
            blob_gas_used,
            blob_gas_price: if blob_gas_used > 0 { self.prices.blob_price } else { 0 },
            bloom: bloom_of(&plan),
            first_log_index: self.log_count,
            logs: plan.logs,
            sale: plan.sale,
            trace: plan.root,
            inner_moves: plan.moves,
            envelope,
        };
        self.log_count += tx.logs.len() as u64;
        self.settle(&tx);
        self.txs.push(tx);
    }

    fn settle(&mut self, tx: &SimTx) {
        self.state.set_nonce(tx.from, tx.envelope.tx.nonce + 1);
        self.state.debit(tx.from, tx.fee());
        let burnt = if self.config.fork < Fork::London { 0 } else { self.prices.base_fee };
        let tip = tx.effective_gas_price.saturating_sub(burnt);
        self.state.credit(self.miner, tip * u128::from(tx.gas_used));
        for step in tx.root_move().iter().chain(&tx.inner_moves) {
            self.state.transfer(*step);
        }
    }

    /// A busy wallet, or the exchange where that one has spent nearly all it had.
    fn signer(&mut self) -> Option<&'a Wallet> {
        let wallet = self.actors.busy_wallet(&mut self.rng)?;
        if self.state.balance(wallet.address) > POOR {
            return Some(wallet);
        }
        self.actors.wallets.first()
    }

    /// Blob and set-code transactions cannot create, and a block has room for a few blobs only.
    fn allowed_shape(&mut self, shape: Shape, plan: &Plan) -> (Shape, usize) {
        let creates = plan.creates.is_some();
        match self.config.fork.allowed(shape) {
            Shape::Blob | Shape::SetCode if creates => (Shape::DynamicFee, 0),
            Shape::Blob => {
                let room = self.blobs_max.saturating_sub(self.blobs).min(6);
                if room == 0 {
                    return (Shape::DynamicFee, 0);
                }
                let blobs = self.rng.random_range(1..=room);
                self.blobs += blobs;
                (Shape::Blob, blobs)
            }
            shape => (shape, 0),
        }
    }

    /// One or two wallets delegate their code. A used authorization costs the authority a nonce; one
    /// in four here carries a wrong nonce, which nodes accept in the list and skip.
    fn authorizations(&mut self, sender: Address) -> Vec<SignedAuthorization> {
        let mut list = Vec::new();
        for _ in 0..self.rng.random_range(1..=2) {
            let Some(authority) = self.actors.busy_wallet(&mut self.rng) else { break };
            if authority.address == sender {
                continue;
            }
            let is_stale = self.rng.random_bool(0.25);
            let nonce = self.state.nonce(authority.address) + if is_stale { 7 } else { 0 };
            let delegate = self.actors.contracts.implementation;
            let chain_id = self.prices.chain_id;
            list.push(SignedAuthorization::sign(&authority.key, chain_id, delegate, nonce));
            if !is_stale {
                self.state.set_nonce(authority.address, nonce + 1);
            }
        }
        if list.is_empty() {
            // The protocol wants at least one; the last wallet signs one that is not valid here.
            let last = self.actors.wallets.last().into_iter();
            let (chain_id, nonce) = (self.prices.chain_id, u64::MAX - 1);
            list.extend(last.map(|w| SignedAuthorization::sign(&w.key, chain_id, sender, nonce)));
        }
        list
    }

    /// Holds the base fee within a few gwei of where it started, and the block within its limit.
    fn pace(&mut self) -> Pace {
        let left = self.config.txs_per_block.saturating_sub(self.txs.len()) as u64;
        let is_full = self.gas_used + 400_000 + left * 60_000 > self.gas_limit;
        if is_full || self.prices.base_fee > 40 * GWEI {
            Pace::Cheap
        } else if self.prices.base_fee < 8 * GWEI && self.rng.random_bool(0.3) {
            Pace::Heavy
        } else {
            Pace::Any
        }
    }
}

fn bloom_of(plan: &Plan) -> Bloom {
    let mut bloom = Bloom::ZERO;
    for log in &plan.logs {
        bloom.accrue(BloomInput::Raw(log.address.as_slice()));
        for topic in log.topics() {
            bloom.accrue(BloomInput::Raw(topic.as_slice()));
        }
    }
    bloom
}

/// Such a transaction has the same effect in any block, so another branch may hold it, too.
fn is_portable(tx: &SimTx) -> bool {
    let simple = matches!(
        tx.kind,
        Kind::Transfer | Kind::SelfTransfer | Kind::ZeroValue | Kind::TokenTransfer
    );
    simple && !matches!(tx.envelope.tx.tx_type, TxType::Blob | TxType::SetCode)
}
