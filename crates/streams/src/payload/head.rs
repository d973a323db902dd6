//! What a body says before its items.

use alloy_primitives::B256;
use model::chain::ChainId;

use super::json::put_text;
use crate::definition::AbiItem;
use crate::matching::items::FieldValue;

#[derive(Clone, Debug)]
pub struct PayloadHead<'a> {
    pub confirmed: bool,
    /// The block is no longer on the chain. Only then the body has the key at all.
    pub retracted: bool,
    pub chain: ChainId,
    /// The stream's id as it is shown.
    pub stream: String,
    pub tag: String,
    pub abi: &'a Option<Vec<AbiItem>>,
    pub number: u64,
    pub hash: B256,
    pub timestamp: u64,
}

pub(super) const RETRIES: &str = ",\"retries\":";

impl PayloadHead<'_> {
    /// Everything up to the first array.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let put = |out: &mut Vec<u8>, text: &str| out.extend_from_slice(text.as_bytes());
        put(out, if self.confirmed { "{\"confirmed\":true" } else { "{\"confirmed\":false" });
        if self.retracted {
            put(out, ",\"retracted\":true");
        }
        put(out, ",\"chainId\":");
        put_text(out, &self.chain.hex());
        put(out, ",\"abi\":");
        // Writing to a vector cannot fail, and the form has no keys that are not texts.
        let _ = serde_json::to_writer(&mut *out, self.abi.as_deref().unwrap_or_default());
        put(out, ",\"streamId\":");
        put_text(out, &self.stream);
        put(out, ",\"tag\":");
        put_text(out, &self.tag);
        put(out, RETRIES);
        put(out, "0,\"block\":{\"number\":");
        super::json::put_field(out, &FieldValue::Small(self.number));
        put(out, ",\"hash\":");
        super::json::put_field(out, &FieldValue::Word(self.hash));
        put(out, ",\"timestamp\":");
        super::json::put_field(out, &FieldValue::Small(self.timestamp));
        put(out, "},");
    }
}
