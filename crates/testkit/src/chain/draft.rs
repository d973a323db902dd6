//! From a plan to a signed transaction of one of the six shapes a block may hold.
//!
//! In: who signs, what the root frame says, the block's fees. Out: the envelope with a real signature
//! and the gas figures that go with it.

use super::{
    actors::Wallet,
    envelope::{AccessListItem, Envelope, SignedAuthorization, TxType, Unsigned},
    frame::FrameError,
    scenario::Plan,
};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use rand::{Rng, rngs::StdRng};

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

    fn tx_type(self) -> TxType {
        match self {
            Self::Legacy | Self::LegacyAnyChain => TxType::Legacy,
            Self::AccessList => TxType::AccessList,
            Self::DynamicFee => TxType::DynamicFee,
            Self::Blob => TxType::Blob,
            Self::SetCode => TxType::SetCode,
        }
    }

    fn has_tip(self) -> bool {
        matches!(self, Self::DynamicFee | Self::Blob | Self::SetCode)
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
            _ => Vec::new(),
        };
        let gas = self.gas(plan, &access_list);
        let key = &self.signer.key;
        (self.unsigned(plan, access_list, gas.limit, rng).sign(key), gas)
    }

    fn gas(&self, plan: &Plan, access_list: &[AccessListItem]) -> Gas {
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

    fn unsigned(
        self,
        plan: &Plan,
        access_list: Vec<AccessListItem>,
        gas_limit: u64,
        rng: &mut StdRng,
    ) -> Unsigned {
        let Prices { chain_id, base_fee, blob_price } = self.prices;
        let tip: u128 = rng.random_range(1_000_000..3_000_000_000);
        let has_tip = self.shape.has_tip();
        Unsigned {
            tx_type: self.shape.tx_type(),
            chain_id: (self.shape != Shape::LegacyAnyChain).then_some(chain_id),
            nonce: self.nonce,
            max_priority_fee_per_gas: has_tip.then_some(tip),
            // With a tip: enough for the base fee to double before the transaction is left out.
            max_fee_per_gas: if has_tip { base_fee * 2 + tip } else { base_fee + tip },
            gas_limit,
            to: if plan.creates.is_some() { TxKind::Create } else { TxKind::Call(plan.root.to) },
            value: U256::from(plan.root.value),
            input: plan.root.input.clone(),
            access_list,
            max_fee_per_blob_gas: blob_price * 2 + 1,
            blob_versioned_hashes: (0..self.blobs).map(|_| blob_hash(rng)).collect(),
            authorization_list: self.authorizations,
            deposit: None,
        }
    }
}

fn calldata_gas(input: &Bytes) -> u64 {
    input.iter().map(|byte| if *byte == 0 { 4 } else { 16 }).sum()
}

fn some_access_list(target: Address, rng: &mut StdRng) -> Vec<AccessListItem> {
    let storage_keys = (0..rng.random_range(0..3)).map(|_| B256::from(rng.random::<[u8; 32]>()));
    vec![AccessListItem { address: target, storage_keys: storage_keys.collect() }]
}

/// Version byte 1, the rest stands for a KZG commitment nobody here can check.
fn blob_hash(rng: &mut StdRng) -> B256 {
    let mut hash: [u8; 32] = rng.random();
    if let Some(version) = hash.first_mut() {
        *version = 1;
    }
    hash.into()
}
