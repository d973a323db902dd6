//! The root over a list: what a header says of its transactions and receipts.

use alloy_primitives::B256;
use alloy_rlp::Encodable;
use alloy_trie::nodes::LeafNodeRef;
use alloy_trie::root::{adjust_index_for_rlp, ordered_trie_root_encoded};
use alloy_trie::{HashBuilder, Nibbles};
use model::hash_lanes::keccak_all;

/// A node shorter than a hash stands in its parent itself.
const HASHED_FROM: usize = 32;

/// The root of a trie that has each item at its number. Nearly all the work is in hashing the leaves,
/// so these are hashed together; the builder gets them as if each were the hash of a subtree.
pub fn ordered_root<T: AsRef<[u8]>>(items: &[T]) -> B256 {
    let Some(leaves) = leaves(items) else { return ordered_trie_root_encoded(items) };
    let hashes = keccak_all(&leaves.iter().map(|leaf| leaf.node.as_slice()).collect::<Vec<_>>());
    let mut builder = HashBuilder::default();
    for (leaf, hash) in leaves.into_iter().zip(hashes) {
        builder.add_branch(leaf.path, hash, false);
    }
    builder.root()
}

struct Leaf {
    /// Down to the branch that the leaf hangs on, and its place there.
    path: Nibbles,
    node: Vec<u8>,
}

/// In the order of their keys. `None` where a leaf is no branch's child or too short to be hashed.
fn leaves<T: AsRef<[u8]>>(items: &[T]) -> Option<Vec<Leaf>> {
    if items.len() < 2 {
        return None;
    }
    let order = |i| adjust_index_for_rlp(i, items.len());
    let keys: Vec<Nibbles> = (0..items.len())
        .map(|i| Nibbles::unpack(alloy_rlp::encode_fixed_size(&order(i))))
        .collect();
    let shared = |i: usize, j: Option<usize>| {
        let (one, other) = (keys.get(i)?, keys.get(j?)?);
        Some(one.common_prefix_length(other))
    };
    let mut leaves = Vec::with_capacity(items.len());
    for (i, key) in keys.iter().enumerate() {
        let item = items.get(order(i))?.as_ref();
        let depth = shared(i, i.checked_sub(1)).max(shared(i, Some(i + 1)))? + 1;
        let below = key.slice(depth..);
        let mut node = Vec::with_capacity(item.len() + 8);
        LeafNodeRef::new(&below, item).encode(&mut node);
        if node.len() < HASHED_FROM {
            return None;
        }
        leaves.push(Leaf { path: key.slice(..depth), node });
    }
    Some(leaves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_length_has_the_root_that_the_builder_finds() {
        let items: Vec<Vec<u8>> = (0..700u32).map(|i| i.to_be_bytes().repeat(12)).collect();
        for count in (0..300).chain([511, 512, 513, 700]) {
            let items = &items[..count];
            assert_eq!(ordered_root(items), ordered_trie_root_encoded(items), "{count} items");
        }
    }

    proptest! {
        #[test]
        fn so_has_every_list(
            items in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..200)
        ) {
            prop_assert_eq!(ordered_root(&items), ordered_trie_root_encoded(&items));
        }
    }
}
