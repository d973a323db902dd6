//! The state as a trie: its root, and the way from it to one account.
//!
//! Every account is without code and storage here; one with neither coins nor nonce is not there.

use super::state::Account;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_rlp::{Encodable, Header};
use alloy_trie::{EMPTY_ROOT_HASH, HashBuilder, KECCAK_EMPTY, Nibbles, proof::ProofRetainer};

type Accounts<'a> = &'a mut dyn Iterator<Item = (Address, Account)>;

pub(super) fn root(accounts: Accounts) -> B256 {
    let mut builder = HashBuilder::default();
    add_all(&mut builder, accounts);
    builder.root()
}

/// The nodes from the root down, as far as they lead.
pub(super) fn proof(accounts: Accounts, of: Address) -> Vec<Bytes> {
    let target = Nibbles::unpack(keccak256(of));
    let retainer = ProofRetainer::new(vec![target]);
    let mut builder = HashBuilder::default().with_proof_retainer(retainer);
    add_all(&mut builder, accounts);
    let _ = builder.root();
    let nodes = builder.take_proof_nodes().matching_nodes_sorted(&target);
    nodes.into_iter().map(|(_, node)| node).collect()
}

fn add_all(builder: &mut HashBuilder, accounts: Accounts) {
    let is_there = |account: &Account| *account != Account::default();
    let mut leaves: Vec<(B256, Vec<u8>)> = accounts
        .filter(|(_, account)| is_there(account))
        .map(|(address, account)| (keccak256(address), encoded(account)))
        .collect();
    leaves.sort_unstable();
    for (key, leaf) in leaves {
        builder.add_leaf(Nibbles::unpack(key), &leaf);
    }
}

fn encoded(account: Account) -> Vec<u8> {
    let balance = U256::from(account.balance);
    let words = EMPTY_ROOT_HASH.length() + KECCAK_EMPTY.length();
    let payload_length = account.nonce.length() + balance.length() + words;
    let mut out = Vec::new();
    Header { list: true, payload_length }.encode(&mut out);
    account.nonce.encode(&mut out);
    balance.encode(&mut out);
    EMPTY_ROOT_HASH.encode(&mut out);
    KECCAK_EMPTY.encode(&mut out);
    out
}
