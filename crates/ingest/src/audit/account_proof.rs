//! `eth_getProof` → the balance of an account, held against a state root.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_rlp::{Encodable, Header};
use alloy_trie::proof::verify_proof;
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY, Nibbles};
use model::raw::json_value::JsonValue;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Why an answer proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    #[error("its answer cannot be read")]
    Malformed,
    #[error("it is of another account")]
    OtherAccount,
    #[error("it does not lead to the block's state root")]
    OtherRoot,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    address: &'a RawValue,
    #[serde(borrow)]
    balance: &'a RawValue,
    #[serde(borrow)]
    nonce: &'a RawValue,
    #[serde(borrow)]
    code_hash: &'a RawValue,
    #[serde(borrow)]
    storage_hash: &'a RawValue,
    #[serde(borrow)]
    account_proof: Vec<&'a RawValue>,
}

fn read<T: JsonValue>(raw: &RawValue) -> Result<T, ProofFault> {
    T::read_json(raw.get().as_bytes()).map(|(value, _)| value).ok_or(ProofFault::Malformed)
}

/// The balance that the account has under this root.
pub fn proven_balance(text: &[u8], account: Address, root: B256) -> Result<U256, ProofFault> {
    let answer: Answer = serde_json::from_slice(text).map_err(|_| ProofFault::Malformed)?;
    if read::<Address>(answer.address)? != account {
        return Err(ProofFault::OtherAccount);
    }
    let (balance, nonce) = (read::<U256>(answer.balance)?, read::<u64>(answer.nonce)?);
    let (code, storage) = (read::<B256>(answer.code_hash)?, read::<B256>(answer.storage_hash)?);
    let nodes = answer.account_proof.into_iter().map(read::<Bytes>);
    let nodes: Vec<Bytes> = nodes.collect::<Result<_, _>>()?;
    let key = Nibbles::unpack(keccak256(account));
    let leaf = encoded(nonce, balance, storage, code);
    if verify_proof(root, key, Some(leaf), &nodes).is_ok() {
        return Ok(balance);
    }
    // An account that is not there. Nodes write its hashes as those of nothing, or as zeros.
    let nothing = |hash: B256, empty: B256| hash == empty || hash.is_zero();
    let is_nobody = balance.is_zero()
        && nonce == 0
        && nothing(code, KECCAK_EMPTY)
        && nothing(storage, EMPTY_ROOT_HASH);
    let key = Nibbles::unpack(keccak256(account));
    if is_nobody && verify_proof(root, key, None, &nodes).is_ok() {
        return Ok(U256::ZERO);
    }
    Err(ProofFault::OtherRoot)
}

/// An account as the state trie holds it.
fn encoded(nonce: u64, balance: U256, storage: B256, code: B256) -> Vec<u8> {
    let payload_length = nonce.length() + balance.length() + storage.length() + code.length();
    let mut out = Vec::with_capacity(payload_length + 3);
    Header { list: true, payload_length }.encode(&mut out);
    nonce.encode(&mut out);
    balance.encode(&mut out);
    storage.encode(&mut out);
    code.encode(&mut out);
    out
}
