//! A delivery with its number, its place in the chain of digests, and its payload.

use alloy_primitives::B256;
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use store::{Delivery, DeliveryKind, DeliveryState};
use streams::delivery::delivery_id;

use super::history_row::payload;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryRow {
    /// The `webhook-id` of its attempts.
    id: String,
    sequence: u64,
    digest: String,
    previous_digest: String,
    /// Its number.
    block: String,
    chain_id: String,
    confirmed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    retracted: bool,
    status: &'static str,
    attempts: u32,
    /// With `"retries":0`, which the digest is made of; null where it is no longer kept.
    payload: Option<Box<RawValue>>,
}

impl DeliveryRow {
    pub fn new(delivery: &Delivery, body: Bytes) -> Self {
        let meta = &delivery.meta;
        DeliveryRow {
            id: delivery_id(delivery.stream, delivery.seq),
            sequence: delivery.seq,
            digest: digest_text(delivery.digest),
            previous_digest: digest_text(delivery.previous_digest),
            block: meta.number.to_string(),
            chain_id: format!("{:#x}", meta.chain.0),
            confirmed: meta.kind == DeliveryKind::Confirmed,
            retracted: meta.kind == DeliveryKind::Retracted,
            status: status(&delivery.state),
            attempts: delivery.state.attempts,
            payload: payload(body),
        }
    }
}

/// As the header `x-digest` has it.
fn digest_text(digest: B256) -> String {
    format!("{digest:#x}")
}

fn status(state: &DeliveryState) -> &'static str {
    if state.delivered_ms.is_some() {
        "delivered"
    } else if state.given_up {
        "failed"
    } else if state.attempts > 0 {
        "retrying"
    } else {
        "waiting"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::streams::history_row::tests::delivery;

    #[test]
    fn a_delivery_shows_what_a_receiver_needs_to_close_a_hole() {
        let state = DeliveryState { attempts: 2, delivered_ms: Some(1), ..Default::default() };
        let delivery_of = |kind| delivery(kind, state.clone());
        let body = Bytes::from_static(br#"{"retries":0}"#);
        let mut row = json!(DeliveryRow::new(&delivery_of(DeliveryKind::Confirmed), body));
        assert!(row.as_object_mut().unwrap().remove("id").unwrap().is_string());
        let expected = json!({
            "sequence": 9, "digest": format!("0x{}", "aa".repeat(32)), "block": "17",
            "previousDigest": format!("0x{}", "00".repeat(32)),
            "chainId": "0x89", "confirmed": true, "status": "delivered", "attempts": 2,
            "payload": { "retries": 0 },
        });
        assert_eq!(row, expected);
        let retracted = DeliveryRow::new(&delivery_of(DeliveryKind::Retracted), Bytes::new());
        let retracted = json!(retracted);
        assert_eq!(retracted["retracted"], true);
        assert_eq!(retracted["payload"], json!(null), "no longer kept");
    }

    #[test]
    fn a_delivery_is_in_one_of_four_states() {
        let state = |attempts, delivered_ms, given_up| DeliveryState {
            attempts,
            delivered_ms,
            given_up,
            ..Default::default()
        };
        assert_eq!(status(&state(0, None, false)), "waiting");
        assert_eq!(status(&state(1, None, false)), "retrying");
        assert_eq!(status(&state(8, None, true)), "failed");
        assert_eq!(status(&state(8, Some(1), true)), "delivered", "replayed at last");
    }
}
