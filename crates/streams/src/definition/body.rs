//! Bodies of requests that say what a stream is.
//!
//! In: JSON text. Out: the definition as it would be, with every rule checked. Must not know: who asks, which
//! chains there are, whether the webhook can be reached.

use alloy_primitives::Address;

use super::{
    chain_id::parse_chain_id,
    check::{FieldChecker, FieldPath},
    compiled::Compiled,
    error::DefinitionError,
    json::{JsonNode, read_json},
    limits::{
        ADDRESSES_MAX, CHAIN_IDS_MAX, DESCRIPTION_CHARS_MAX, TAG_CHARS_MAX, TOPIC0_MAX,
        WEBHOOK_URL_CHARS_MAX,
    },
    read_abi::{read_abi, read_integer},
    read_options::{read_advanced_options, read_event_name, read_native_balances, read_triggers},
    sol_value::parse_address,
    stream::Definition,
    webhook_url::is_webhook_url,
};

/// A stream to be created, from JSON text.
pub fn read_create(body: &[u8]) -> Result<Definition, DefinitionError> {
    let node = read_json(body)?;
    let mut reader = BodyReader::new(new_definition());
    if let Some(entries) = reader.entries(&node) {
        reader.stream_fields(entries);
        for name in ["webhookUrl", "description", "chainIds"] {
            if !entries.iter().any(|(key, _)| key == name) {
                reader.checker.required(&FieldPath::default(), name);
            }
        }
    }
    reader.finish()
}

/// The stream as it would be after the update: what the body gives replaces, the rest stays.
pub fn read_update(current: &Definition, body: &[u8]) -> Result<Definition, DefinitionError> {
    let node = read_json(body)?;
    let mut reader = BodyReader::new(current.clone());
    if let Some(entries) = reader.entries(&node) {
        reader.stream_fields(entries);
    }
    reader.finish()
}

/// A question for one block: a stream without a receiver, and the addresses it would watch, each once.
pub fn read_block_query(body: &[u8]) -> Result<(Definition, Vec<Address>), DefinitionError> {
    let node = read_json(body)?;
    let mut reader = BodyReader::new(new_definition());
    let mut addresses = Vec::new();
    for (key, node) in reader.entries(&node).unwrap_or_default() {
        let at = FieldPath::default().key(key);
        if key == "addresses" {
            addresses = reader.addresses(&at, node).unwrap_or_default();
        } else if !reader.matching_field(&at, key, node) {
            reader.checker.excess(&at, key);
        }
    }
    Ok((reader.finish()?, addresses))
}

fn new_definition() -> Definition {
    Definition { include_unconfirmed: true, ..Definition::default() }
}

struct BodyReader {
    definition: Definition,
    checker: FieldChecker,
}

impl BodyReader {
    fn new(definition: Definition) -> Self {
        Self { definition, checker: FieldChecker::default() }
    }

    fn entries<'n>(&mut self, node: &'n JsonNode) -> Option<&'n [(String, JsonNode)]> {
        self.checker.object(&FieldPath::default(), node)
    }

    /// Rules are only checked where every field could be read.
    fn finish(self) -> Result<Definition, DefinitionError> {
        self.checker.finish()?;
        Compiled::new(&self.definition)?;
        Ok(self.definition)
    }

    fn stream_fields(&mut self, entries: &[(String, JsonNode)]) {
        for (key, node) in entries {
            let at = FieldPath::default().key(key);
            if !self.matching_field(&at, key, node) && !self.delivery_field(&at, key, node) {
                self.checker.excess(&at, key);
            }
        }
    }

    /// What decides how and whither, not what. False if it is none of them.
    fn delivery_field(&mut self, at: &FieldPath, key: &str, node: &JsonNode) -> bool {
        let (definition, checker) = (&mut self.definition, &mut self.checker);
        match key {
            "webhookUrl" => set(&mut definition.webhook_url, webhook_url(at, node, checker)),
            "description" => {
                let text = checker.text(at, node, DESCRIPTION_CHARS_MAX);
                set(&mut definition.description, text);
            }
            "chainIds" => set(&mut definition.chain_ids, chain_ids(at, node, checker)),
            "demo" => set(&mut definition.demo, checker.boolean(at, node)),
            "includeUnconfirmed" => {
                set(&mut definition.include_unconfirmed, checker.boolean(at, node));
            }
            "includeRetractions" => {
                set(&mut definition.include_retractions, checker.boolean(at, node));
            }
            "fromBlock" if *node == JsonNode::Null => definition.from_block = None,
            "fromBlock" => definition.from_block = read_integer(at, node, checker),
            _ => return false,
        }
        true
    }

    /// What decides which items match. False if it is none of them.
    fn matching_field(&mut self, at: &FieldPath, key: &str, node: &JsonNode) -> bool {
        if let Some(flag) = flag(&mut self.definition, key) {
            set(flag, self.checker.boolean(at, node));
            return true;
        }
        let (definition, checker) = (&mut self.definition, &mut self.checker);
        let is_null = *node == JsonNode::Null;
        match key {
            "tag" => set(&mut definition.tag, checker.text(at, node, TAG_CHARS_MAX)),
            "topic0" if is_null => definition.topic0 = None,
            "topic0" => definition.topic0 = topic0(at, node, checker),
            "abi" if is_null || is_empty_object(node) => definition.abi = None,
            "abi" => definition.abi = read_abi(at, node, checker),
            "advancedOptions" if is_null || is_empty_object(node) => {
                definition.advanced_options = None;
            }
            "advancedOptions" => {
                definition.advanced_options = read_advanced_options(at, node, checker);
            }
            "triggers" if is_null => definition.triggers.clear(),
            "triggers" => set(&mut definition.triggers, read_triggers(at, node, checker)),
            "getNativeBalances" if is_null => definition.get_native_balances.clear(),
            "getNativeBalances" => {
                let balances = read_native_balances(at, node, checker);
                set(&mut definition.get_native_balances, balances);
            }
            _ => return false,
        }
        true
    }

    fn addresses(&mut self, at: &FieldPath, node: &JsonNode) -> Option<Vec<Address>> {
        let mut addresses = Vec::new();
        for (index, node) in self.checker.list(at, node, ADDRESSES_MAX)?.iter().enumerate() {
            let at = at.index(index);
            let Some(text) = self.checker.text(&at, node, usize::MAX) else {
                continue;
            };
            match parse_address(&text) {
                Some(address) => addresses.push(address),
                None => self.checker.fail_text(&at, "Invalid address provided", &text),
            }
        }
        addresses.sort_unstable();
        addresses.dedup();
        Some(addresses)
    }
}

/// What could not be read stays as it was; its error is noted.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn flag<'d>(definition: &'d mut Definition, key: &str) -> Option<&'d mut bool> {
    Some(match key {
        "allAddresses" => &mut definition.all_addresses,
        "includeNativeTxs" => &mut definition.include_native_txs,
        "includeContractLogs" => &mut definition.include_contract_logs,
        "includeInternalTxs" => &mut definition.include_internal_txs,
        "includeAllTxLogs" => &mut definition.include_all_tx_logs,
        "filterPossibleSpamAddresses" => &mut definition.filter_possible_spam_addresses,
        _ => return None,
    })
}

fn is_empty_object(node: &JsonNode) -> bool {
    matches!(node, JsonNode::Object(entries) if entries.is_empty())
}

fn webhook_url(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<String> {
    let url = checker.text(at, node, WEBHOOK_URL_CHARS_MAX)?;
    if !is_webhook_url(&url) {
        let message = "must be an http or https URL with a host and without a user name";
        checker.fail_text(at, message, &url);
        return None;
    }
    Some(url)
}

fn chain_ids(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<Vec<String>> {
    let list = checker.list(at, node, CHAIN_IDS_MAX)?;
    if list.is_empty() {
        checker.fail(at, "must have at least 1 chain id", node.value());
        return None;
    }
    let mut ids: Vec<String> = Vec::new();
    for (index, node) in list.iter().enumerate() {
        let at = at.index(index);
        let Some(text) = checker.text(&at, node, usize::MAX) else {
            continue;
        };
        let Some(id) = parse_chain_id(&text) else {
            let message = "must be a chain id in hex such as 0x1, not a name or a decimal number";
            checker.fail_text(&at, message, &text);
            continue;
        };
        if !ids.contains(&id.hex()) {
            ids.push(id.hex());
        }
    }
    Some(ids)
}

fn topic0(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for (index, node) in checker.list(at, node, TOPIC0_MAX)?.iter().enumerate() {
        if let Some(name) = read_event_name(&at.index(index), node, checker)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    Some(names)
}
