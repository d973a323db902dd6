//! Log blooms. Addresses and topics repeat a lot inside a block, so each is hashed once.

use crate::raw::Log;
use alloy_primitives::map::HashMap;
use alloy_primitives::{Bloom, keccak256};

/// The bloom of one receipt's logs.
pub fn of_logs(logs: &[Log]) -> Bloom {
    BloomMaker::default().of_logs(logs)
}

#[derive(Default)]
pub struct BloomMaker<'a> {
    bits: HashMap<&'a [u8], [u16; 3]>,
}

impl<'a> BloomMaker<'a> {
    pub fn of_logs(&mut self, logs: &'a [Log]) -> Bloom {
        let mut bloom = Bloom::ZERO;
        for log in logs {
            if let Some(address) = &log.address {
                self.add(address.as_slice(), &mut bloom);
            }
            for topic in log.topics.iter().flatten() {
                self.add(topic.as_slice(), &mut bloom);
            }
        }
        bloom
    }

    fn add(&mut self, item: &'a [u8], bloom: &mut Bloom) {
        let bits = self.bits.entry(item).or_insert_with(|| bits_of(item));
        for bit in bits {
            // Bit 0 is the lowest bit of the last byte.
            if let Some(byte) = bloom.0.get_mut(255 - usize::from(*bit) / 8) {
                *byte |= 1 << (*bit % 8);
            }
        }
    }
}

/// Three times the low 11 bits of a pair of the hash's first bytes.
fn bits_of(item: &[u8]) -> [u16; 3] {
    let hash = keccak256(item);
    let [a, b, c, d, e, f, ..] = hash.0;
    [[a, b], [c, d], [e, f]].map(|pair| u16::from_be_bytes(pair) & 0x7ff)
}
