//! Whose native balances go into a webhook.

use alloy_primitives::Address;

use super::{
    check::{FieldChecker, FieldPath},
    item::ItemKind,
    selector::SelectorScope,
    sol_value::parse_address,
    stream::NativeBalances,
};

#[derive(Clone, Debug)]
pub struct BalanceRule {
    pub kind: ItemKind,
    /// Names of address fields, without `$`.
    selectors: Vec<String>,
}

impl BalanceRule {
    /// None with the errors noted if the entry is wrong.
    pub(super) fn new(
        entry: &NativeBalances,
        at: &FieldPath,
        checker: &mut FieldChecker,
    ) -> Option<Self> {
        let Some(kind) = ItemKind::from_name(&entry.kind) else {
            checker.one_of(&at.key("type"), &ItemKind::ALL.map(ItemKind::name), &entry.kind);
            return None;
        };
        let scope = SelectorScope { kind, events: &[] };
        let mut selectors = Vec::with_capacity(entry.selectors.len());
        for (index, text) in entry.selectors.iter().enumerate() {
            let name = text.strip_prefix('$').ok_or_else(|| {
                format!("`{text}` is not a selector: write $ and the name of a field")
            });
            match name.and_then(|name| scope.address_field(name)) {
                Ok(name) => selectors.push(name),
                Err(message) => {
                    checker.fail_text(&at.key("selectors").index(index), message, text);
                }
            }
        }
        Some(Self { kind, selectors })
    }

    /// The addresses in one item's fields, each once, in order of the selectors. Fields that are null in this
    /// item (a created contract has no receiver) are left out.
    pub fn addresses(&self, field: &dyn Fn(&str) -> Option<String>) -> Vec<Address> {
        let mut found = Vec::new();
        for name in &self.selectors {
            if let Some(address) = field(name).and_then(|text| parse_address(&text))
                && !found.contains(&address)
            {
                found.push(address);
            }
        }
        found
    }
}
