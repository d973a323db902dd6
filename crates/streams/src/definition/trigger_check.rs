//! Makes a trigger's rule of what its owner wrote, or says what is wrong with it.

use alloy_dyn_abi::{DynSolType, parser::is_valid_identifier};
use alloy_primitives::{B256, keccak256};
use serde_json::Value;

use super::{
    abi_check::param_types,
    check::{FieldChecker, FieldPath},
    event_abi::EventAbi,
    item::ItemKind,
    selector::{AddressSource, InputSource, SelectorScope},
    signature::read_topic0,
    sol_type::type_list_name,
    stream::{AbiItem, Trigger},
    trigger_rule::{TriggerParts, TriggerRule},
};

const KINDS: [ItemKind; 5] = [
    ItemKind::Tx,
    ItemKind::Log,
    ItemKind::Erc20Transfer,
    ItemKind::Erc20Approval,
    ItemKind::NftTransfer,
];

/// The first four bytes of a call, the types of its inputs, and its outputs by name.
struct FunctionTypes {
    selector: [u8; 4],
    inputs: Vec<DynSolType>,
    outputs: Vec<(String, DynSolType)>,
}

/// `abi` has the events of the stream. None with the errors noted if the trigger is wrong.
pub(super) fn check_trigger(
    trigger: &Trigger,
    at: &FieldPath,
    abi: &[EventAbi],
    checker: &mut FieldChecker,
) -> Option<TriggerRule> {
    let kind = ItemKind::from_name(&trigger.kind).filter(|kind| KINDS.contains(kind));
    if kind.is_none() {
        checker.one_of(&at.key("type"), &KINDS.map(ItemKind::name), &trigger.kind);
    }
    let function = check_function(&trigger.function_abi, &at.key("functionAbi"), checker);
    let (kind, function) = (kind?, function?);
    let mut check = TriggerCheck { trigger, at, checker };
    let (topic0, events) = check.event(kind, abi)?;
    let scope = SelectorScope { kind, events: &events };
    let contract = check.address("contractAddress", &trigger.contract_address, scope);
    let from = match &trigger.call_from {
        Some(text) => check.address("callFrom", text, scope).map(Some),
        None => Some(None),
    };
    let inputs = check.inputs(&function.inputs, scope);
    let parts = TriggerParts {
        contract: contract?,
        from: from?,
        selector: function.selector,
        inputs: inputs?,
        outputs: function.outputs,
        events,
    };
    Some(TriggerRule { kind, topic0, parts })
}

struct TriggerCheck<'a> {
    trigger: &'a Trigger,
    at: &'a FieldPath,
    checker: &'a mut FieldChecker,
}

impl TriggerCheck<'_> {
    fn event(&mut self, kind: ItemKind, abi: &[EventAbi]) -> Option<(Option<B256>, Vec<EventAbi>)> {
        let Some(text) = &self.trigger.topic0 else {
            return Some((None, Vec::new()));
        };
        let at = self.at.key("topic0");
        if kind != ItemKind::Log {
            self.checker.fail_text(&at, "is allowed with type log only", text);
            return None;
        }
        match read_topic0(text) {
            Ok(topic0) => {
                let events: Vec<_> =
                    abi.iter().filter(|event| event.topic0 == topic0.hash).cloned().collect();
                if events.is_empty() {
                    self.checker.rule(format!("{at} needs the event `{text}` in abi."));
                    return None;
                }
                Some((Some(topic0.hash), events))
            }
            Err(message) => {
                self.checker.fail_text(&at, message, text);
                None
            }
        }
    }

    /// What needs the stream's ABI is a rule about two fields, the rest is a wrong field.
    fn wrong(&mut self, at: &FieldPath, message: String, value: Value, scope: SelectorScope<'_>) {
        if scope.events.is_empty() {
            self.checker.fail(at, message, value);
        } else {
            self.checker.rule(format!("{at} does not go with abi: {message}."));
        }
    }

    fn address(
        &mut self,
        key: &str,
        text: &str,
        scope: SelectorScope<'_>,
    ) -> Option<AddressSource> {
        match scope.address(text) {
            Ok(source) => Some(source),
            Err(message) => {
                self.wrong(&self.at.key(key), message, Value::from(text), scope);
                None
            }
        }
    }

    fn inputs(
        &mut self,
        types: &[DynSolType],
        scope: SelectorScope<'_>,
    ) -> Option<Vec<InputSource>> {
        let at = self.at.key("inputs");
        let given = self.trigger.inputs.as_deref().unwrap_or_default();
        if given.len() != types.len() {
            let (wanted, count) = (types.len(), given.len());
            let message = format!("must have {wanted} entries as functionAbi.inputs, not {count}");
            self.checker.fail(&at, message, Value::from(given.to_vec()));
            return None;
        }
        let mut sources = Vec::with_capacity(given.len());
        for (index, (ty, value)) in types.iter().zip(given).enumerate() {
            match scope.input(ty, value) {
                Ok(source) => sources.push(source),
                Err(message) => self.wrong(&at.index(index), message, value.clone(), scope),
            }
        }
        (sources.len() == given.len()).then_some(sources)
    }
}

fn check_function(
    item: &AbiItem,
    at: &FieldPath,
    checker: &mut FieldChecker,
) -> Option<FunctionTypes> {
    if item.kind != "function" {
        checker.one_of(&at.key("type"), &["function"], &item.kind);
        return None;
    }
    let name = match item.name.as_deref() {
        Some(name) if is_valid_identifier(name) => name,
        Some(name) => {
            checker.fail_text(&at.key("name"), "is not the name of a function", name);
            return None;
        }
        None => {
            checker.required(at, "name");
            return None;
        }
    };
    // Old compilers wrote `constant` instead.
    let reads = match item.state_mutability.as_deref() {
        Some(mutability) => matches!(mutability, "view" | "pure"),
        None => item.constant == Some(true),
    };
    if !reads {
        let given = item.state_mutability.as_deref().map_or(Value::Null, Value::from);
        checker.fail(&at.key("stateMutability"), "must be view or pure", given);
    }
    let inputs = item.inputs.as_deref().unwrap_or_default();
    let inputs = param_types(inputs, &at.key("inputs"), checker);
    let params = item.outputs.as_deref().unwrap_or_default();
    if params.is_empty() {
        let message = "must have at least 1 output";
        checker.fail(&at.key("outputs"), message, Value::Array(Vec::new()));
    }
    let outputs = param_types(params, &at.key("outputs"), checker);
    let (inputs, outputs) = (inputs?, outputs?);
    if !reads || params.is_empty() {
        return None;
    }
    let hash = keccak256(format!("{name}{}", type_list_name(&inputs)));
    let names = params.iter().enumerate().map(|(index, param)| {
        if param.name.is_empty() { format!("output{}", index + 1) } else { param.name.clone() }
    });
    let outputs = names.zip(outputs).collect();
    Some(FunctionTypes { selector: *hash.first_chunk()?, inputs, outputs })
}
