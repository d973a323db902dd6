//! From a plan to a signed transaction of one of the six shapes a block may hold.
//!
//! In: who signs, what the root frame says, the block's fees. Out: the envelope with a real signature
//! and the gas figures that go with it.

use super::{cast::Wallet, frame::FrameError, scenario::Plan, sign::signed, typed::Fields};
use alloy_consensus::{EthereumTxEnvelope, TxEip4844};
use alloy_eips::{
    eip2930::{AccessList, AccessListItem},
    eip7702::SignedAuthorization,
};
use alloy_primitives::{Address, B256, Bytes, U256};
use rand::{Rng, rngs::StdRng};

/// A transaction as a block holds it: blobs themselves are not part of it.
pub type Envelope = EthereumTxEnvelope<TxEip4844>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Type 0, bound to the chain (EIP-155).
    Legacy,
    /// Type 0 as before EIP-155: valid on every chain.
    LegacyAnyChain,
    AccessList,
    DynamicFee,
    Blob,
    SetCode,
}

const SHAPES: [(Shape, u32); 6] = [
    (Shape::DynamicFee, 70),
    (Shape::Legacy, 15),
    (Shape::LegacyAnyChain, 3),
    (Shape::AccessList, 6),
    (Shape::Blob, 3),
    (Shape::SetCode, 3),
];

impl Shape {
    pub fn nth(n: u64) -> Self {
        SHAPES.get((n % 6) as usize).map_or(Self::DynamicFee, |(shape, _)| *shape)
    }

    pub fn pick(rng: &mut StdRng) -> Self {
        let mut place = rng.random_range(0..100u32);
        for (shape, weight) in SHAPES {
            if place < weight {
                return shape;
            }
            place -= weight;
        }
        Self::DynamicFee
    }
}

/// What the block asks of every transaction in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    pub chain_id: u64,
    pub base_fee: u128,
    pub blob_price: u128,
}

/// Everything a transaction says besides its plan.
pub(crate) struct Draft<'a> {
    pub shape: Shape,
    pub prices: Prices,
    pub signer: &'a Wallet,
    pub nonce: u64,
    pub blobs: usize,
    pub authorizations: Vec<SignedAuthorization>,
}

/// Gas before the first instruction runs, and the limit the sender set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gas {
    pub intrinsic: u64,
    pub limit: u64,
}

impl Draft<'_> {
    pub fn sign(self, plan: &Plan, rng: &mut StdRng) -> (Envelope, Gas) {
        let access_list = match self.shape {
            Shape::AccessList => some_access_list(plan.root.to, rng),
            _ => AccessList::default(),
        };
        let gas = self.gas(plan, &access_list);
        (self.envelope(plan, access_list, gas.limit, rng), gas)
    }

    fn gas(&self, plan: &Plan, access_list: &AccessList) -> Gas {
        let create = if plan.creates.is_some() { 32_000 } else { 0 };
        let slots: usize = access_list.iter().map(|item| item.storage_keys.len()).sum();
        let intrinsic = 21_000
            + create
            + calldata_gas(&plan.root.input)
            + 2_400 * access_list.len() as u64
            + 1_900 * slots as u64
            + 25_000 * self.authorizations.len() as u64;
        let work = plan.root.total_gas();
        // Senders leave room, but a plain transfer needs none and an exhausted call has none left.
        let is_tight = work == 0 || plan.root.error == Some(FrameError::OutOfGas);
        let spare = if is_tight { 0 } else { work / 4 + 10_000 };
        Gas { intrinsic, limit: intrinsic + work + spare }
    }

    fn envelope(self, plan: &Plan, list: AccessList, gas_limit: u64, rng: &mut StdRng) -> Envelope {
        let tip: u128 = rng.random_range(1_000_000..3_000_000_000);
        let fields = Fields {
            chain_id: self.prices.chain_id,
            nonce: self.nonce,
            gas_limit,
            base_fee: self.prices.base_fee,
            tip,
            target: plan.creates.is_none().then_some(plan.root.to),
            value: U256::from(plan.root.value),
            input: plan.root.input.clone(),
            access_list: list,
        };
        let key = &self.signer.key;
        match self.shape {
            Shape::Legacy => Envelope::Legacy(signed(fields.legacy(true), key)),
            Shape::LegacyAnyChain => Envelope::Legacy(signed(fields.legacy(false), key)),
            Shape::AccessList => Envelope::Eip2930(signed(fields.with_access_list(), key)),
            Shape::DynamicFee => Envelope::Eip1559(signed(fields.dynamic_fee(), key)),
            Shape::Blob => {
                let hashes = (0..self.blobs).map(|_| blob_hash(rng)).collect();
                Envelope::Eip4844(signed(fields.blob(hashes, self.prices.blob_price), key))
            }
            Shape::SetCode => Envelope::Eip7702(signed(fields.set_code(self.authorizations), key)),
        }
    }
}

fn calldata_gas(input: &Bytes) -> u64 {
    input.iter().map(|byte| if *byte == 0 { 4 } else { 16 }).sum()
}

fn some_access_list(target: Address, rng: &mut StdRng) -> AccessList {
    let storage_keys = (0..rng.random_range(0..3)).map(|_| B256::from(rng.random::<[u8; 32]>()));
    AccessList(vec![AccessListItem { address: target, storage_keys: storage_keys.collect() }])
}

/// Version byte 1, the rest stands for a KZG commitment nobody here can check.
fn blob_hash(rng: &mut StdRng) -> B256 {
    let mut hash: [u8; 32] = rng.random();
    if let Some(version) = hash.first_mut() {
        *version = 1;
    }
    hash.into()
}
