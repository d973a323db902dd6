//! What a transaction does: a plan of call frames, coins that move and logs, before it is signed.
//!
//! One function per kind, grouped by file. A plan states the coins that really move (`moves`) beside
//! the frames, so the expected answers never come from reading traces back.
//! New kind: one variant, one line in `ALL`, one function.

mod deploying;
mod nested;
mod plain;
mod proxies;
mod sales;
mod tokens;
mod trades;

use super::{
    actors::Actors,
    frame::Frame,
    sale::Sale,
    state::{Move, State},
};
use alloy_primitives::{Address, Bytes, Log};
use rand::{Rng, rngs::StdRng};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Transfer,
    SelfTransfer,
    ZeroValue,
    OutOfGas,
    FailedCall,
    Creation,
    FailedCreation,
    CallNewContract,
    TokenTransfer,
    NftTransfer,
    Swap,
    Split,
    DeepChain,
    InnerRevert,
    VaultPayout,
    Factory,
    SelfDestruct,
    Proxy,
    /// Only where the configuration asks for sales.
    NftSale,
    /// Only where the configuration asks for trades.
    PoolTrade,
    /// Only on chains of the OP stack.
    Deposit,
}

/// Which kinds may be picked, by the gas they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Any,
    Cheap,
    Heavy,
}

type Author = fn(&mut ScenarioContext) -> Plan;

/// Kind, how often it is taken (of 100 or so), whether it is cheap in gas, and who writes its plan.
const ALL: &[(Kind, u32, bool, Author)] = &[
    (Kind::Transfer, 34, true, plain::transfer),
    (Kind::SelfTransfer, 1, true, plain::self_transfer),
    (Kind::ZeroValue, 2, true, plain::zero_value),
    (Kind::OutOfGas, 1, true, plain::out_of_gas),
    (Kind::FailedCall, 3, true, nested::failed_call),
    (Kind::Creation, 2, false, deploying::creation),
    (Kind::FailedCreation, 1, false, deploying::failed_creation),
    (Kind::CallNewContract, 2, true, plain::call_new_contract),
    (Kind::TokenTransfer, 24, true, tokens::token_transfer),
    (Kind::NftTransfer, 4, true, tokens::nft_transfer),
    (Kind::Swap, 8, false, tokens::swap),
    (Kind::Split, 4, false, nested::split),
    (Kind::DeepChain, 3, false, nested::deep_chain),
    (Kind::InnerRevert, 3, false, nested::inner_revert),
    (Kind::VaultPayout, 3, false, nested::vault_payout),
    (Kind::Factory, 2, false, deploying::factory),
    (Kind::SelfDestruct, 2, false, deploying::self_destruct),
    (Kind::Proxy, 4, false, proxies::proxy),
];

impl Kind {
    /// Every kind in turn; one per block is enough to see them all in a short chain.
    pub fn nth(n: u64) -> Self {
        let place = (n % ALL.len() as u64) as usize;
        ALL.get(place).map_or(Self::Transfer, |(kind, ..)| *kind)
    }

    /// By frequency, among those that fit the pace.
    pub fn pick(rng: &mut StdRng, pace: Pace) -> Self {
        let open = |is_cheap: bool| match pace {
            Pace::Any => true,
            Pace::Cheap => is_cheap,
            Pace::Heavy => !is_cheap,
        };
        let total: u32 = ALL.iter().filter(|(_, _, c, _)| open(*c)).map(|(_, w, ..)| w).sum();
        let mut place = rng.random_range(0..total.max(1));
        for (kind, weight, is_cheap, _) in ALL {
            if !open(*is_cheap) {
                continue;
            }
            if place < *weight {
                return *kind;
            }
            place -= weight;
        }
        Self::Transfer
    }

    pub(super) fn plan(self, context: &mut ScenarioContext) -> Plan {
        match self {
            Self::NftSale => return sales::sale(context),
            Self::PoolTrade => return trades::trade(context),
            _ => {}
        }
        let author = ALL.iter().find(|(kind, ..)| *kind == self).map(|(.., author)| *author);
        author.unwrap_or(plain::transfer)(context)
    }
}

/// What a transaction will do. `to`, `value` and `input` are those of the root frame.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub root: Frame,
    /// The root is a creation, of this address.
    pub creates: Option<Address>,
    /// Coins moved by frames below the root, in order; what a failing ancestor undid is left out.
    pub moves: Vec<Move>,
    pub logs: Vec<Log>,
    /// What the logs tell, where they tell of a sale.
    pub sale: Option<Sale>,
}

impl Plan {
    pub fn call(root: Frame) -> Self {
        Self { root, creates: None, moves: Vec::new(), logs: Vec::new(), sale: None }
    }

    pub fn moves(mut self, moves: impl IntoIterator<Item = Move>) -> Self {
        self.moves.extend(moves);
        self
    }

    pub fn log(mut self, log: Log) -> Self {
        self.logs.push(log);
        self
    }

    pub fn logs(mut self, logs: impl IntoIterator<Item = Log>) -> Self {
        self.logs.extend(logs);
        self
    }

    pub fn succeeds(&self) -> bool {
        self.root.error.is_none()
    }
}

/// What an author may look at while writing one transaction.
pub(crate) struct ScenarioContext<'a> {
    pub rng: &'a mut StdRng,
    pub actors: &'a Actors,
    pub state: &'a mut State,
    pub sender: Address,
    pub nonce: u64,
    /// When the block that is built was made, in unix seconds.
    pub time: u64,
    /// Contracts made by transactions of the parent block.
    pub recent: &'a [Address],
}

impl ScenarioContext<'_> {
    /// An amount `payer` can surely afford, many times over.
    pub fn amount(&mut self, payer: Address) -> u128 {
        let wish: u128 = self.rng.random_range(100_000_000_000_000..2_000_000_000_000_000_000);
        wish.min(self.state.balance(payer) / 1000)
    }

    /// A busy receiver other than the sender.
    pub fn receiver(&mut self) -> Address {
        for _ in 0..8 {
            let address = self.actors.busy_wallet(self.rng).map(|w| w.address).unwrap_or_default();
            if address != self.sender {
                return address;
            }
        }
        self.actors.contracts.splitter
    }

    /// A selector and some random words.
    pub fn call_data(&mut self, words: usize) -> Bytes {
        let mut data = vec![0u8; 4 + 32 * words];
        self.rng.fill(data.as_mut_slice());
        data.into()
    }
}
