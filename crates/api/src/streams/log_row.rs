//! One attempt, as the logs show it.

use serde::Serialize;
use streams::delivery::delivery_id;
use streams::{iso_millis, uuid_text};

use super::attempt_list::Attempt;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogRow {
    /// Of the delivery: all its attempts have the same.
    id: String,
    stream_id: String,
    chain: String,
    webhook_url: String,
    tag: String,
    retries: u32,
    delivery_status: &'static str,
    block_number: u64,
    error_message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    created_at: String,
}

impl LogRow {
    pub fn new((anchor, delivery, log): Attempt) -> Self {
        LogRow {
            id: delivery_id(delivery.stream, delivery.seq),
            stream_id: uuid_text(&delivery.stream),
            chain: format!("{:#x}", delivery.meta.chain.0),
            webhook_url: log.webhook_url,
            tag: log.tag,
            retries: log.retries,
            delivery_status: if log.error.is_some() { "failed" } else { "success" },
            block_number: delivery.meta.number,
            error_message: log.error.unwrap_or_default(),
            kind: "evm",
            created_at: iso_millis(anchor.at_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use store::{AttemptLog, DeliveryKind, DeliveryState, ListAnchor};

    use super::*;
    use crate::streams::history_row::tests::delivery;

    fn row(error: Option<&str>) -> Value {
        let delivery = delivery(DeliveryKind::Unconfirmed, DeliveryState::default());
        let (stream, seq) = (delivery.stream, delivery.seq);
        let anchor = ListAnchor { at_ms: 1_709_287_200_007, stream, seq, retries: 2 };
        let log = AttemptLog {
            webhook_url: "https://a/b".into(),
            tag: "t".into(),
            retries: 2,
            error: error.map(str::to_owned),
        };
        json!(LogRow::new((anchor, delivery, log)))
    }

    #[test]
    fn an_attempt_has_the_fields_of_the_live_service() {
        let mut failed = row(Some("timeout"));
        assert!(failed.as_object_mut().unwrap().remove("id").unwrap().is_string());
        let expected = json!({
            "streamId": "11111111-1111-1111-1111-111111111111", "chain": "0x89",
            "webhookUrl": "https://a/b", "tag": "t", "retries": 2, "deliveryStatus": "failed",
            "blockNumber": 17, "errorMessage": "timeout", "type": "evm",
            "createdAt": "2024-03-01T10:00:00.007Z",
        });
        assert_eq!(failed, expected);
        let taken = row(None);
        assert_eq!(
            (&taken["deliveryStatus"], &taken["errorMessage"]),
            (&json!("success"), &json!(""))
        );
    }
}
