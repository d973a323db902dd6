//! A delivery that failed, as the history shows it.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use store::{Delivery, DeliveryKind};
use streams::delivery::delivery_id;
use streams::{iso_millis, uuid_text};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRow {
    /// The `webhook-id` of all its attempts.
    id: String,
    date: String,
    /// As it was sent first; absent where it was not asked for or is no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Box<RawValue>>,
    tiny_payload: TinyPayload,
    error_message: String,
    webhook_url: String,
    stream_id: String,
    tag: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TinyPayload {
    chain_id: String,
    confirmed: bool,
    /// Its number.
    block: String,
    records: u64,
    retries: u32,
}

/// What a row says beside the delivery itself.
pub struct LastAttempt {
    /// Unix milliseconds.
    pub at_ms: u64,
    pub retries: u32,
    pub error: Option<String>,
    pub webhook_url: String,
    pub tag: String,
}

impl HistoryRow {
    pub fn new(delivery: &Delivery, attempt: LastAttempt, body: Option<Bytes>) -> Self {
        let meta = &delivery.meta;
        let counts = [meta.counts.txs, meta.counts.logs, meta.counts.internal_txs];
        let tiny_payload = TinyPayload {
            chain_id: format!("{:#x}", meta.chain.0),
            confirmed: meta.kind == DeliveryKind::Confirmed,
            block: meta.number.to_string(),
            records: counts.map(u64::from).iter().sum(),
            retries: attempt.retries,
        };
        HistoryRow {
            id: delivery_id(delivery.stream, delivery.seq),
            date: iso_millis(attempt.at_ms),
            payload: body.and_then(payload),
            tiny_payload,
            error_message: attempt.error.unwrap_or_default(),
            webhook_url: attempt.webhook_url,
            stream_id: uuid_text(&delivery.stream),
            tag: attempt.tag,
        }
    }
}

/// Byte for byte: its digest and its signature are over these bytes. None for a body that is no longer kept.
pub fn payload(body: Bytes) -> Option<Box<RawValue>> {
    let text = String::from_utf8(body.into()).ok()?;
    RawValue::from_string(text).ok()
}

#[cfg(test)]
pub mod tests {
    use alloy_primitives::B256;
    use model::chain::ChainId;
    use serde_json::{Value, json};
    use store::{DeliveryMeta, DeliveryState, RecordCounts, StreamId};

    use super::*;

    pub fn delivery(kind: DeliveryKind, state: DeliveryState) -> Delivery {
        let meta = DeliveryMeta {
            chain: ChainId(137),
            number: 17,
            hash: B256::repeat_byte(1),
            kind,
            part: (1, 1),
            traces_missing: false,
            amends: None,
            counts: RecordCounts { txs: 1, logs: 2, internal_txs: 3 },
            created_ms: 5,
        };
        Delivery {
            stream: StreamId::repeat_byte(0x11),
            seq: 9,
            meta,
            body_bytes: 2,
            digest: B256::repeat_byte(0xaa),
            previous_digest: B256::ZERO,
            state,
        }
    }

    fn attempt() -> LastAttempt {
        LastAttempt {
            at_ms: 1_709_287_200_123,
            retries: 3,
            error: Some("status 500".into()),
            webhook_url: "https://a/b".into(),
            tag: "t".into(),
        }
    }

    #[test]
    fn a_failed_delivery_has_the_fields_of_the_live_service() {
        let delivery = delivery(DeliveryKind::Confirmed, DeliveryState::default());
        let body = Bytes::from_static(br#"{"b":1,"a":"\u001f"}"#);
        let row = HistoryRow::new(&delivery, attempt(), Some(body));
        let text = serde_json::to_string(&row).unwrap();
        assert!(text.contains(r#""payload":{"b":1,"a":"\u001f"},"#), "as it was sent: {text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["date"], "2024-03-01T10:00:00.123Z");
        assert_eq!(
            value["tinyPayload"],
            json!({ "chainId": "0x89", "confirmed": true, "block": "17", "records": 6, "retries": 3 })
        );
        assert_eq!(value["errorMessage"], "status 500");
        assert_eq!(value["streamId"], "11111111-1111-1111-1111-111111111111");
        let names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        let all = ["date", "errorMessage", "id", "payload", "streamId", "tag", "tinyPayload"];
        assert_eq!(names, [all.as_slice(), &["webhookUrl"]].concat());
    }

    #[test]
    fn a_payload_is_left_out_where_there_is_none() {
        let delivery = delivery(DeliveryKind::Unconfirmed, DeliveryState::default());
        for body in [None, Some(Bytes::new())] {
            let value = json!(HistoryRow::new(&delivery, attempt(), body));
            assert_eq!(value.get("payload"), None);
            assert_eq!(value["tinyPayload"]["confirmed"], false);
        }
    }
}
