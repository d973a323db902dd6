//! A trigger, ready to be asked: the contract call for one item, and what its answer says.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, B256, Bytes};
use serde_json::Value;

use super::{
    event_abi::{EventAbi, LogView},
    item::ItemKind,
    selector::{AddressSource, InputSource},
    sol_decode::decode_sequence,
    sol_value::value_json,
};

/// The `eth_call` of one trigger for one item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TriggerCall {
    pub to: Address,
    pub from: Option<Address>,
    pub data: Bytes,
}

#[derive(Clone, Debug)]
pub struct TriggerRule {
    pub kind: ItemKind,
    /// Only logs of this event; for kind `Log` alone.
    pub topic0: Option<B256>,
    pub(super) parts: TriggerParts,
}

/// What a checked trigger is made of.
#[derive(Clone, Debug)]
pub(super) struct TriggerParts {
    pub contract: AddressSource,
    pub from: Option<AddressSource>,
    /// The first four bytes of the call.
    pub selector: [u8; 4],
    pub inputs: Vec<InputSource>,
    /// By name, or `output1` and so on.
    pub outputs: Vec<(String, DynSolType)>,
    /// The layouts in which the ABI has the event of `topic0`.
    pub events: Vec<EventAbi>,
}

impl TriggerRule {
    /// The fields of a log of this trigger's event, in ABI order, which its selectors may name before the
    /// payload's. None if the log is none of its event; empty if the trigger names no event.
    pub fn decode(&self, log: LogView<'_>) -> Option<Vec<(String, DynSolValue)>> {
        if self.topic0.is_none() {
            return Some(Vec::new());
        }
        self.parts.events.iter().find_map(|event| event.decode(log.topics, log.data))
    }

    /// The call for one item. `field` gives an item's fields by name without `$`: the payload's names, and
    /// for logs the decoded names, too. The error is for the item's `triggers` list.
    pub fn call(&self, field: &dyn Fn(&str) -> Option<String>) -> Result<TriggerCall, String> {
        let parts = &self.parts;
        let to = parts.contract.resolve(field)?;
        let from = parts.from.as_ref().map(|source| source.resolve(field)).transpose()?;
        let values: Vec<DynSolValue> =
            parts.inputs.iter().map(|input| input.resolve(field)).collect::<Result<_, _>>()?;
        let mut data = parts.selector.to_vec();
        data.extend(DynSolValue::Tuple(values).abi_encode_params());
        Ok(TriggerCall { to, from, data: data.into() })
    }

    /// The outputs by name (`output1` and so on for those without one), as JSON that JavaScript writes as it
    /// read it: integers are decimal text, addresses and bytes are lower-case hex, booleans are booleans,
    /// arrays and tuples are lists.
    pub fn results(&self, output: &[u8]) -> Result<Vec<(String, Value)>, String> {
        if output.is_empty() {
            return Err("the call returned nothing: is there such a contract?".to_owned());
        }
        let types: Vec<DynSolType> = self.parts.outputs.iter().map(|(_, ty)| ty.clone()).collect();
        let values = decode_sequence(&types, output)
            .ok_or("the call returned data that functionAbi.outputs does not describe")?;
        let names = self.parts.outputs.iter().map(|(name, _)| name.clone());
        Ok(names.zip(values.iter().map(value_json)).collect())
    }
}
