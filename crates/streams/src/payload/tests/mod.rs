//! Bodies, byte for byte.

mod edits;
mod fixed_point;
mod golden;
mod splitting;

use alloy_primitives::B256;

use super::PayloadHead;
use crate::definition::AbiItem;
use crate::matching::tests::plans::CHAIN;

fn head<'a>(tag: &str, abi: &'a Option<Vec<AbiItem>>) -> PayloadHead<'a> {
    PayloadHead {
        confirmed: false,
        retracted: false,
        chain: CHAIN,
        stream: "0d653a7a-05da-4f4a-8eec-bca8725046cd".to_owned(),
        tag: tag.to_owned(),
        abi,
        number: 77,
        hash: B256::repeat_byte(0x77),
        timestamp: 1_700_000_000,
    }
}
