//! Balances and nonces, and what one block changed in them.
//!
//! A block's changes are collected while it is built, handed out by `take_changes`, and can be taken
//! back by `undo`: that is all a reorg needs.

use super::market::Holdings;
use alloy_primitives::{Address, map::HashMap};

/// Amounts are wei. The whole simulated supply fits in 128 bits with room to spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub balance: u128,
    pub nonce: u64,
}

/// An account before and after one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountChange {
    pub address: Address,
    pub before: Account,
    pub after: Account,
}

/// Coins that really went from one account to another (nothing undone is ever listed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: Address,
    pub to: Address,
    pub value: u128,
}

#[derive(Default)]
pub(crate) struct State {
    accounts: HashMap<Address, Account>,
    before: HashMap<Address, Account>,
    /// What the market's pools hold, in their order; those that are open.
    pub pools: Vec<Holdings>,
}

impl State {
    pub fn account(&self, address: Address) -> Account {
        self.accounts.get(&address).copied().unwrap_or_default()
    }

    pub fn accounts(&self) -> impl Iterator<Item = (Address, Account)> {
        self.accounts.iter().map(|(address, account)| (*address, *account))
    }

    pub fn balance(&self, address: Address) -> u128 {
        self.account(address).balance
    }

    pub fn nonce(&self, address: Address) -> u64 {
        self.account(address).nonce
    }

    pub fn credit(&mut self, address: Address, amount: u128) {
        self.change(address, |account| account.balance += amount);
    }

    /// Saturates instead of going below zero; scenarios ask for the balance before they spend it.
    pub fn debit(&mut self, address: Address, amount: u128) {
        self.change(address, |account| account.balance = account.balance.saturating_sub(amount));
    }

    pub fn transfer(&mut self, step: Move) {
        self.debit(step.from, step.value);
        self.credit(step.to, step.value);
    }

    pub fn set_nonce(&mut self, address: Address, nonce: u64) {
        self.change(address, |account| account.nonce = nonce);
    }

    /// The nonce to use now; the next one is one higher.
    pub fn take_nonce(&mut self, address: Address) -> u64 {
        let nonce = self.nonce(address);
        self.set_nonce(address, nonce + 1);
        nonce
    }

    /// Everything changed since the last call, sorted by address so that it is deterministic.
    pub fn take_changes(&mut self) -> Vec<AccountChange> {
        let before = std::mem::take(&mut self.before);
        let mut changes: Vec<_> = before
            .into_iter()
            .map(|(address, before)| AccountChange {
                address,
                before,
                after: self.account(address),
            })
            .collect();
        changes.sort_unstable_by_key(|change| change.address);
        changes
    }

    pub fn undo(&mut self, changes: &[AccountChange]) {
        for change in changes {
            self.accounts.insert(change.address, change.before);
        }
    }

    fn change(&mut self, address: Address, edit: impl FnOnce(&mut Account)) {
        let account = self.accounts.entry(address).or_default();
        self.before.entry(address).or_insert(*account);
        edit(account);
    }
}
