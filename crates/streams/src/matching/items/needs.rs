//! What a node has to be asked before a webhook is complete, and where the answers go.
//!
//! All of it can be asked at the same time, in any order. Only where a trigger reads what a token says of
//! itself (`tokenName` and the like) the tokens come first; `Needs::tokens_first` says so.

use std::cell::Cell;
use std::collections::HashSet;

use alloy_primitives::{Address, U256};
use model::chain::ChainId;
use model::token::Token;

use super::decoded;
use super::{Item, Items, LogItem, TriggerResults};
use crate::definition::{Compiled, ItemKind, LogView, TriggerCall, TriggerRule};
use crate::matching::StreamPlan;

#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Whose name, symbol and decimals are wanted; each once.
    pub tokens: Vec<Address>,
    pub triggers: Vec<TriggerNeed>,
    /// Whose balances after the block are wanted; each once.
    pub balances: Vec<BalanceNeed>,
    /// A trigger reads what a token says of itself and that is not filled in yet: fill in the tokens, then ask
    /// for the needs again and take the triggers from there.
    pub tokens_first: bool,
}

#[derive(Clone, Debug)]
pub struct TriggerNeed {
    pub place: TriggerPlace,
    /// What cannot be called goes straight to `fill_trigger`, as the error it is.
    pub call: Result<TriggerCall, String>,
}

/// Which trigger of the stream, for which item of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TriggerPlace {
    rule: usize,
    item: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceNeed {
    pub place: usize,
    pub address: Address,
}

/// A native balance that a webhook tells.
#[derive(Clone, Debug, PartialEq)]
pub struct BalanceItem {
    pub address: Address,
    /// The first transaction in the block of those that brought it in.
    pub tx_place: usize,
    /// None until it was asked.
    pub balance: Option<Result<U256, String>>,
}

impl Items {
    pub fn needs(&self, plan: &StreamPlan) -> Needs {
        let tokens_first = Cell::new(false);
        let mut triggers = Vec::new();
        for (number, rule) in plan.compiled.triggers.iter().enumerate() {
            for item in 0..self.count(rule.kind) {
                if !self.concerns(rule, item) {
                    continue;
                }
                let field = |name: &str| {
                    if self.lacks_token(rule.kind, item, name) {
                        tokens_first.set(true);
                    }
                    self.field(&plan.compiled, rule.kind, item, name)
                };
                let place = TriggerPlace { rule: number, item };
                triggers.push(TriggerNeed { place, call: rule.call(&field) });
            }
        }
        let places = self.balances.iter().enumerate();
        let balances = places.map(|(place, it)| BalanceNeed { place, address: it.address });
        Needs {
            tokens: self.contracts(),
            triggers,
            balances: balances.collect(),
            tokens_first: tokens_first.get(),
        }
    }

    pub fn fill_tokens(&mut self, tokens: impl IntoIterator<Item = (Address, Token)>) {
        for (address, token) in tokens {
            self.tokens.insert(address, token);
        }
    }

    /// What the call returned, or why it failed, in words for the receiver.
    pub fn fill_trigger(
        &mut self,
        plan: &StreamPlan,
        place: TriggerPlace,
        answer: Result<impl AsRef<[u8]>, String>,
    ) {
        let Some(rule) = plan.compiled.triggers.get(place.rule) else { return };
        let outputs = answer.and_then(|output| rule.results(output.as_ref()));
        if let Some(results) = self.triggers_mut(rule.kind, place.item) {
            results.set(place.rule, outputs);
        }
    }

    /// The balance in wei, or why it is not known, in words for the receiver.
    pub fn fill_balance(&mut self, place: usize, answer: Result<U256, String>) {
        if let Some(item) = self.balances.get_mut(place) {
            item.balance = Some(answer);
        }
    }

    /// Notes whose balances the stream wants, in the order of its rules.
    pub(super) fn find_balances(&mut self, compiled: &Compiled) {
        let mut seen = HashSet::new();
        let mut found: Vec<BalanceItem> = Vec::new();
        for rule in &compiled.balances {
            for item in 0..self.count(rule.kind) {
                let field = |name: &str| self.field(compiled, rule.kind, item, name);
                for address in rule.addresses(&field) {
                    if seen.insert(address) {
                        let tx_place = self.tx_place(rule.kind, item);
                        found.push(BalanceItem { address, tx_place, balance: None });
                    }
                }
            }
        }
        self.balances = found;
    }

    fn count(&self, kind: ItemKind) -> usize {
        match kind {
            ItemKind::Tx => self.txs.len(),
            ItemKind::Log => self.logs.len(),
            ItemKind::InternalTx => self.internals.len(),
            ItemKind::Erc20Transfer => self.erc20_transfers.len(),
            ItemKind::Erc20Approval => self.erc20_approvals.len(),
            ItemKind::NftTransfer => self.nft_transfers.len(),
        }
    }

    /// A trigger for one event passes over other logs.
    fn concerns(&self, rule: &TriggerRule, item: usize) -> bool {
        let Some(topic0) = rule.topic0.filter(|_| rule.kind == ItemKind::Log) else { return true };
        self.logs.get(item).is_some_and(|log| log.topics.first() == Some(&topic0))
    }

    /// An item's field by the name it has in the payload; of a log also by the name it has in the event, which
    /// goes first.
    pub fn field(
        &self,
        compiled: &Compiled,
        kind: ItemKind,
        item: usize,
        name: &str,
    ) -> Option<String> {
        fn of<T: Item>(items: &Items, list: &[T], item: usize, name: &str) -> Option<String> {
            list.get(item)?.value(name, &items.tokens).text()
        }
        match kind {
            ItemKind::Tx => of(self, &self.txs, item, name),
            ItemKind::Log => {
                let decoded = self.logs.get(item).and_then(|log| self.decoded(compiled, log, name));
                decoded.or_else(|| of(self, &self.logs, item, name))
            }
            ItemKind::InternalTx => of(self, &self.internals, item, name),
            ItemKind::Erc20Transfer => of(self, &self.erc20_transfers, item, name),
            ItemKind::Erc20Approval => of(self, &self.erc20_approvals, item, name),
            ItemKind::NftTransfer => of(self, &self.nft_transfers, item, name),
        }
    }

    fn decoded(&self, compiled: &Compiled, log: &LogItem, name: &str) -> Option<String> {
        let view = log.view(self.chain);
        let rules = compiled.events.iter().filter(|rule| log.topics.first() == Some(&rule.topic0));
        let fields = rules.filter_map(|rule| rule.decode(view)).next()?;
        fields.iter().find(|(field, _)| field == name).map(|(_, value)| decoded::text(value))
    }

    fn lacks_token(&self, kind: ItemKind, item: usize, name: &str) -> bool {
        let told = ["tokenName", "tokenSymbol", "tokenDecimals", "valueWithDecimals"];
        let contract = match kind {
            ItemKind::Erc20Transfer => self.erc20_transfers.get(item).map(|it| it.origin.contract),
            ItemKind::Erc20Approval => self.erc20_approvals.get(item).map(|it| it.origin.contract),
            ItemKind::NftTransfer => self.nft_transfers.get(item).map(|it| it.origin.contract),
            ItemKind::Tx | ItemKind::Log | ItemKind::InternalTx => None,
        };
        told.contains(&name) && contract.is_some_and(|address| !self.tokens.is_known(address))
    }

    fn contracts(&self) -> Vec<Address> {
        let origins = self.erc20_transfers.iter().map(|it| &it.origin);
        let origins = origins.chain(self.erc20_approvals.iter().map(|it| &it.origin));
        let origins = origins.chain(self.nft_transfers.iter().map(|it| &it.origin));
        let origins = origins.chain(self.nft_approvals.iter().map(|it| &it.origin));
        let mut seen = HashSet::new();
        origins.map(|it| it.contract).filter(|address| seen.insert(*address)).collect()
    }

    fn tx_place(&self, kind: ItemKind, item: usize) -> usize {
        let log_place = |place: usize| self.logs.get(place).map(|log| log.tx_place);
        let place = match kind {
            ItemKind::Tx => self.txs.get(item).map(|it| it.place),
            ItemKind::Log => log_place(item),
            ItemKind::InternalTx => self.internals.get(item).map(|it| it.tx_place),
            ItemKind::Erc20Transfer => {
                self.erc20_transfers.get(item).and_then(|it| log_place(it.origin.log))
            }
            ItemKind::Erc20Approval => {
                self.erc20_approvals.get(item).and_then(|it| log_place(it.origin.log))
            }
            ItemKind::NftTransfer => {
                self.nft_transfers.get(item).and_then(|it| log_place(it.origin.log))
            }
        };
        place.unwrap_or_default()
    }

    fn triggers_mut(&mut self, kind: ItemKind, item: usize) -> Option<&mut TriggerResults> {
        Some(match kind {
            ItemKind::Tx => &mut self.txs.get_mut(item)?.triggers,
            ItemKind::Log => &mut self.logs.get_mut(item)?.triggers,
            ItemKind::InternalTx => &mut self.internals.get_mut(item)?.triggers,
            ItemKind::Erc20Transfer => &mut self.erc20_transfers.get_mut(item)?.triggers,
            ItemKind::Erc20Approval => &mut self.erc20_approvals.get_mut(item)?.triggers,
            ItemKind::NftTransfer => &mut self.nft_transfers.get_mut(item)?.triggers,
        })
    }
}

impl LogItem {
    pub(crate) fn view(&self, chain: ChainId) -> LogView<'_> {
        LogView {
            chain,
            address: self.address,
            topics: &self.topics,
            data: &self.data,
            possible_spam: self.possible_spam,
        }
    }
}
