//! What a stream, or all of a tenant's, added up to.

use serde::Serialize;
use store::{StreamId, StreamTotals};
use streams::uuid_text;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatsRow {
    total_webhooks_delivered: u64,
    total_webhooks_failed: u64,
    total_logs_processed: u64,
    total_txs_processed: u64,
    total_txs_internal_processed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<Vec<StatsRow>>,
}

impl StatsRow {
    pub fn of_stream(id: StreamId, totals: StreamTotals) -> Self {
        StatsRow { stream_id: Some(uuid_text(&id)), ..Self::plain(totals) }
    }

    pub fn of_all(totals: StreamTotals, streams: Vec<(StreamId, StreamTotals)>) -> Self {
        let rows = streams.into_iter().map(|(id, totals)| Self::of_stream(id, totals)).collect();
        StatsRow { streams: Some(rows), ..Self::plain(totals) }
    }

    fn plain(totals: StreamTotals) -> Self {
        StatsRow {
            total_webhooks_delivered: totals.webhooks_delivered,
            total_webhooks_failed: totals.webhooks_failed,
            total_logs_processed: totals.logs,
            total_txs_processed: totals.txs,
            total_txs_internal_processed: totals.internal_txs,
            stream_id: None,
            streams: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sums_have_the_names_of_the_live_service() {
        let totals = StreamTotals {
            webhooks_delivered: 1,
            webhooks_failed: 2,
            txs: 3,
            logs: 4,
            internal_txs: 5,
        };
        let id = StreamId::ZERO;
        let row = json!({
            "totalWebhooksDelivered": 1, "totalWebhooksFailed": 2, "totalLogsProcessed": 4,
            "totalTxsProcessed": 3, "totalTxsInternalProcessed": 5,
            "streamId": "00000000-0000-0000-0000-000000000000",
        });
        assert_eq!(json!(StatsRow::of_stream(id, totals)), row);
        let mut all = row.clone();
        all.as_object_mut().unwrap().remove("streamId");
        all["streams"] = json!([row]);
        assert_eq!(json!(StatsRow::of_all(totals, vec![(id, totals)])), all);
    }
}
