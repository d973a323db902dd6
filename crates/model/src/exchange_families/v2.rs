//! Uniswap v2 and its copies: one pair per two tokens, reserves told after every change.

use alloy_primitives::{Address, B256, b256, keccak256};

use super::event::{Created, Event, EventReader, Flow, PoolEvent};
use super::family::{Exchange, ExchangeKind, Family, FindPool, Function, NodeCalls, PoolGuess};
use super::pool_terms::PoolTerms;
use crate::abi::{Words, address, topic, uint, words};
use crate::facts::PoolState;
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 0,
    name: "v2",
    is_ranged: false,
    is_singleton: false,
    has_stable_curve: false,
    events: EVENTS,
    prove,
    node_calls: Some(NODE_CALLS),
};

impl ExchangeKind {
    pub const V2: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const EVENTS: &[EventReader] = &[
    EventReader {
        topic: b256!("1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"),
        signature: "Sync(uint112,uint112)",
        read: sync,
    },
    EventReader {
        topic: b256!("d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"),
        signature: "Swap(address,uint256,uint256,uint256,uint256,address)",
        read: |log| PoolEvent::of_emitter(log, Event::Swap(flow(log)?)),
    },
    EventReader {
        topic: b256!("0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9"),
        signature: "PairCreated(address,address,address,uint256)",
        read: pair_created,
    },
];

fn sync(log: &Log) -> Option<PoolEvent> {
    topic(log, 1, 0)?;
    let [reserve0, reserve1] = words(log)?;
    PoolEvent::of_emitter(log, Event::State(reserves(reserve0, reserve1)?))
}

fn reserves(reserve0: B256, reserve1: B256) -> Option<PoolState> {
    Some(PoolState::Reserves { reserve0: uint(reserve0, 112)?, reserve1: uint(reserve1, 112)? })
}

/// Sender and receiver are topics; the amounts come in the same order in all that is made after v2.
pub fn flow(log: &Log) -> Option<Flow> {
    let [in0, in1, out0, out1] = words(log)?;
    Some(Flow {
        amount0_in: uint(in0, 256)?,
        amount1_in: uint(in1, 256)?,
        amount0_out: uint(out0, 256)?,
        amount1_out: uint(out1, 256)?,
        sender: address(topic(log, 3, 1)?)?,
        to: Some(address(topic(log, 3, 2)?)?),
        state: None,
        fee: None,
    })
}

fn pair_created(log: &Log) -> Option<PoolEvent> {
    let [pair, _count] = words(log)?;
    let tokens = [address(topic(log, 3, 1)?)?, address(topic(log, 3, 2)?)?];
    let created = Created { tokens, terms: PoolTerms::default(), state: None };
    Some(PoolEvent::created(address(pair)?, created))
}

pub fn prove(exchange: &Exchange, guess: &PoolGuess) -> Option<PoolTerms> {
    exchange.has_made(guess.id, salt(guess.tokens)).then(PoolTerms::default)
}

fn salt([token0, token1]: [Address; 2]) -> B256 {
    let mut packed = [0; 40];
    let (first, second) = packed.split_at_mut(20);
    first.copy_from_slice(token0.as_slice());
    second.copy_from_slice(token1.as_slice());
    keccak256(packed)
}

pub const NODE_CALLS: NodeCalls = NodeCalls {
    find_pool: Function {
        selector: [0xe6, 0xa4, 0x39, 0x05],
        signature: "getPair(address,address)",
    },
    arguments: |_, tokens| {
        let arguments = tokens.map(|token| token.into_word()).to_vec();
        vec![FindPool { arguments, terms: PoolTerms::default() }]
    },
    state: &[Function { selector: [0x09, 0x02, 0xf1, 0xac], signature: "getReserves()" }],
    read_state: |answers, _| {
        let reserves = Words(answers.first()?.as_deref()?);
        self::reserves(reserves.hash(0)?, reserves.hash(1)?)
    },
};
