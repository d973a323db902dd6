//! A definition made ready for matching: signatures hashed, types resolved, filters and selectors checked.
//!
//! What is wrong with one field is a field error; fields that do not go together break a rule.

use alloy_primitives::B256;

use super::{
    abi_check::check_abi,
    balance_rule::BalanceRule,
    check::{FieldChecker, FieldPath},
    condition::Condition,
    error::DefinitionError,
    event_abi::EventAbi,
    event_rule::EventRule,
    filter::FilterTree,
    json::JsonNode,
    signature::read_topic0,
    stream::{AdvancedOption, Definition},
    trigger_check::check_trigger,
    trigger_rule::TriggerRule,
};

#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// Empty: all logs of watched addresses match. Else a log matches if one of them accepts it.
    pub events: Vec<EventRule>,
    pub triggers: Vec<TriggerRule>,
    pub balances: Vec<BalanceRule>,
}

impl Compiled {
    pub fn new(definition: &Definition) -> Result<Compiled, DefinitionError> {
        let mut checker = FieldChecker::default();
        check_flags(definition, &mut checker);
        let root = FieldPath::default();
        let abi = check_abi(definition.abi.as_deref().unwrap_or_default(), &mut checker);
        let events = event_rules(definition, &abi, &mut checker);
        let mut triggers = Vec::with_capacity(definition.triggers.len());
        for (index, trigger) in definition.triggers.iter().enumerate() {
            let at = root.key("triggers").index(index);
            triggers.extend(check_trigger(trigger, &at, &abi, &mut checker));
        }
        let mut balances = Vec::with_capacity(definition.get_native_balances.len());
        for (index, entry) in definition.get_native_balances.iter().enumerate() {
            let at = root.key("getNativeBalances").index(index);
            balances.extend(BalanceRule::new(entry, &at, &mut checker));
        }
        checker.finish()?;
        Ok(Self { events, triggers, balances })
    }
}

fn check_flags(definition: &Definition, checker: &mut FieldChecker) {
    let Definition { include_contract_logs, include_native_txs, include_internal_txs, .. } =
        definition;
    if !(*include_contract_logs || *include_native_txs || *include_internal_txs) {
        checker.rule(
            "At least one of includeContractLogs, includeNativeTxs and includeInternalTxs must be true.",
        );
    }
    if definition.include_all_tx_logs && !(*include_contract_logs || *include_native_txs) {
        checker.rule("includeAllTxLogs needs includeNativeTxs or includeContractLogs to be true.");
    }
    let has_abi = definition.abi.as_ref().is_some_and(|items| !items.is_empty());
    let has_topic0 = definition.topic0.as_ref().is_some_and(|list| !list.is_empty());
    if definition.all_addresses && !(has_abi && has_topic0) {
        checker.rule("allAddresses needs abi and topic0.");
    }
}

/// One option as far as it stands by itself.
struct ReadOption {
    topic0: B256,
    filter: Option<FilterTree>,
    include_native_txs: bool,
    /// For rules that it breaks.
    at: FieldPath,
    text: String,
}

fn event_rules(
    definition: &Definition,
    abi: &[EventAbi],
    checker: &mut FieldChecker,
) -> Vec<EventRule> {
    let mut wanted: Vec<B256> = Vec::new();
    for (index, text) in definition.topic0.iter().flatten().enumerate() {
        let at = FieldPath::default().key("topic0").index(index);
        match read_topic0(text) {
            Ok(topic0) if wanted.contains(&topic0.hash) => {}
            Ok(topic0) => wanted.push(topic0.hash),
            Err(message) => checker.fail_text(&at, message, text),
        }
    }
    let options = read_options(definition, checker);
    let takes_any = definition.topic0.as_ref().is_none_or(Vec::is_empty);
    for option in &options {
        if wanted.contains(&option.topic0) {
            continue;
        }
        if takes_any {
            wanted.push(option.topic0);
        } else {
            let ReadOption { at, text, .. } = option;
            checker.rule(format!("{at}.topic0 `{text}` is not in topic0."));
        }
    }
    let mut rules = Vec::new();
    for topic0 in wanted {
        let layouts: Vec<&EventAbi> = abi.iter().filter(|event| event.topic0 == topic0).collect();
        let mut own = options.iter().filter(|option| option.topic0 == topic0).peekable();
        if own.peek().is_none() {
            rules.extend(unfiltered(topic0, &layouts));
        }
        for option in own {
            let mut made = option_rules(option, &layouts, checker);
            for rule in &mut made {
                rule.include_native_txs = option.include_native_txs;
            }
            rules.append(&mut made);
        }
    }
    rules
}

fn read_options(definition: &Definition, checker: &mut FieldChecker) -> Vec<ReadOption> {
    let mut options = Vec::new();
    for (index, option) in definition.advanced_options.iter().flatten().enumerate() {
        let at = FieldPath::default().key("advancedOptions").index(index);
        options.extend(read_option(option, at, checker));
    }
    options
}

fn read_option(
    option: &AdvancedOption,
    at: FieldPath,
    checker: &mut FieldChecker,
) -> Option<ReadOption> {
    let topic0 = match read_topic0(&option.topic0) {
        Ok(topic0) => Some(topic0.hash),
        Err(message) => {
            checker.fail_text(&at.key("topic0"), message, &option.topic0);
            None
        }
    };
    let filter = match &option.filter {
        Some(filter) => {
            Some(FilterTree::read(&at.key("filter"), &JsonNode::from_value(filter), checker)?)
        }
        None => None,
    };
    Some(ReadOption {
        topic0: topic0?,
        filter,
        include_native_txs: option.include_native_txs == Some(true),
        at,
        text: option.topic0.clone(),
    })
}

/// An event that the ABI does not have is known by its topic0 alone.
fn unfiltered(topic0: B256, layouts: &[&EventAbi]) -> Vec<EventRule> {
    if layouts.is_empty() {
        return vec![EventRule::new(topic0, None)];
    }
    layouts.iter().map(|event| EventRule::new(topic0, Some((*event).clone()))).collect()
}

/// A layout whose inputs the filter does not name has no log that passes; one at least must have them.
fn option_rules(
    option: &ReadOption,
    layouts: &[&EventAbi],
    checker: &mut FieldChecker,
) -> Vec<EventRule> {
    let ReadOption { at, text, topic0, .. } = option;
    let Some(filter) = &option.filter else {
        return unfiltered(*topic0, layouts);
    };
    if layouts.is_empty() {
        checker.rule(format!("{at}.filter needs the event `{text}` in abi."));
        return Vec::new();
    }
    let mut rules = Vec::new();
    let mut first_error = None;
    for event in layouts {
        match Condition::bind(filter, event) {
            Ok(condition) => {
                let rule = EventRule::new(*topic0, Some((*event).clone()));
                rules.push(rule.with_filter(Some(condition)));
            }
            Err(message) => {
                first_error.get_or_insert(message);
            }
        }
    }
    if let Some(message) = first_error.filter(|_| rules.is_empty()) {
        checker.rule(format!("{at}.filter does not go with abi: {message}."));
    }
    rules
}
