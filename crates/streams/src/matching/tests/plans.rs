//! Streams to match with, as short as tests want to write them.

use std::sync::Arc;

use alloy_primitives::Address;
use model::chain::ChainId;
use store::StreamId;

use crate::definition::{AbiItem, AbiParam, AdvancedOption, Compiled, Definition};
use crate::matching::{Slot, StreamIndex, StreamPlan};

pub const CHAIN: ChainId = ChainId(1337);

pub fn plan(definition: Definition) -> Arc<StreamPlan> {
    let compiled = Compiled::new(&definition).unwrap();
    Arc::new(StreamPlan { id: StreamId::ZERO, definition, compiled, chains: vec![CHAIN] })
}

pub fn native() -> Definition {
    Definition { include_native_txs: true, ..base() }
}

pub fn logs() -> Definition {
    Definition { include_contract_logs: true, ..base() }
}

pub fn internals() -> Definition {
    Definition { include_internal_txs: true, ..base() }
}

fn base() -> Definition {
    Definition {
        webhook_url: "https://receiver.example/hook".to_owned(),
        chain_ids: vec![CHAIN.hex()],
        ..Definition::default()
    }
}

/// Logs of one event with so many fields of it indexed.
pub fn events(name: &str, indexed: usize) -> Definition {
    let kinds = ["address", "address", "uint256"];
    let inputs = kinds.iter().enumerate().map(|(place, kind)| AbiParam {
        name: ["from", "to", "value"][place].to_owned(),
        kind: (*kind).to_owned(),
        indexed: Some(place < indexed),
        ..AbiParam::default()
    });
    let item = AbiItem {
        anonymous: Some(false),
        name: Some(name.to_owned()),
        inputs: Some(inputs.collect()),
        kind: "event".to_owned(),
        ..AbiItem::default()
    };
    Definition {
        topic0: Some(vec![format!("{name}(address,address,uint256)")]),
        abi: Some(vec![item]),
        ..logs()
    }
}

/// The same with the transaction of each event.
pub fn with_txs(definition: Definition) -> Definition {
    let topic0 = definition.topic0.iter().flatten().next().unwrap().clone();
    let option = AdvancedOption { topic0, filter: None, include_native_txs: Some(true) };
    Definition { advanced_options: Some(vec![option]), ..definition }
}

pub fn of_all(definition: Definition) -> Definition {
    Definition { all_addresses: true, ..definition }
}

/// One stream, in slot 5.
pub fn index_of(definition: Definition, addresses: &[Address]) -> StreamIndex {
    let mut index = StreamIndex::new();
    index.put(SLOT, plan(definition));
    index.add_addresses(SLOT, addresses.iter().copied());
    index
}

pub const SLOT: Slot = 5;
