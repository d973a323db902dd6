//! What addresses cost in memory.

use alloy_primitives::{Address, keccak256};

use super::plans::{native, plan};
use crate::matching::StreamIndex;

fn address(n: u64) -> Address {
    Address::from_word(keccak256(n.to_be_bytes()))
}

#[test]
fn a_million_addresses_of_one_stream_take_at_most_64_bytes_each() {
    // Just after the table has doubled an address takes most.
    let (doubled, million) = (917_505, 1_000_000);
    let mut index = StreamIndex::new();
    index.put(0, plan(native()));
    for range in [0..doubled, doubled..million] {
        let count = range.end;
        index.add_addresses(0, range.map(address));
        let per_address = index.address_bytes() as f64 / count as f64;
        println!("{count} addresses: {per_address:.1} bytes each");
        assert_eq!(index.address_count(0), count as usize);
        assert!(per_address <= 64.0, "{per_address}");
    }
    // The same again adds nothing, and a second stream that shares a few adds little.
    let before = index.address_bytes();
    index.add_addresses(0, (0..50_000).map(address));
    assert_eq!(index.address_bytes(), before);
    index.add_addresses(1, (0..1000).map(address));
    assert!(index.address_bytes() < before + 100_000);
    // A stream that is gone gives its memory back.
    index.remove(0);
    assert!(!index.has_address(0, address(1)) && index.has_address(1, address(1)));
    assert!(index.address_bytes() < before / 10, "{}", index.address_bytes());
}
