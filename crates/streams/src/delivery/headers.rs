//! What is said beside a body. Pure.

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use store::{Delivery, DeliveryKind};

use super::directory::TargetInfo;
use super::signed::Signed;

/// One request to a receiver.
pub(super) struct Said<'a> {
    /// The same for every attempt.
    pub id: &'a str,
    pub body: &'a [u8],
    pub now_ms: u64,
    /// Where it was signed a moment ago.
    pub signed: Option<&'a Signed>,
    pub queue_size: u64,
    /// None for what has no number: test calls, blocks that somebody asked for.
    pub delivery: Option<&'a Delivery>,
}

pub(super) fn headers(target: &TargetInfo, said: &Said<'_>) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(16);
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut put = |name: &'static str, value: &str| {
        // All values are ours, but for the region, which is one of a list.
        if let Ok(value) = HeaderValue::from_str(value) {
            map.insert(HeaderName::from_static(name), value);
        }
    };
    let mut put_signed = |at_ms: u64, x_signature: &str, webhook_signature: &str| {
        put("x-signature", x_signature);
        put("webhook-id", said.id);
        put("webhook-timestamp", &(at_ms / 1000).to_string());
        put("webhook-signature", webhook_signature);
    };
    if let Some(signed) = said.signed {
        put_signed(signed.at_ms, &signed.x_signature, &signed.webhook_signature);
    } else {
        let (secrets, now_ms) = (&target.secrets, said.now_ms);
        let standard = secrets.webhook_signature(said.id, now_ms, said.body);
        put_signed(now_ms, &secrets.x_signature(said.body, now_ms), &standard);
    }
    put("x-region", &target.region);
    put("x-queue-size", &said.queue_size.to_string());
    put("x-records-charged", &said.delivery.map_or(0, records_charged).to_string());
    let Some(delivery) = said.delivery else {
        return map;
    };
    put("x-sequence", &delivery.seq.to_string());
    put("x-digest", &format!("{:#x}", delivery.digest));
    put("x-previous-digest", &format!("{:#x}", delivery.previous_digest));
    let (part, parts) = delivery.meta.part;
    if parts > 1 {
        put("x-part", &format!("{part}/{parts}"));
    }
    if delivery.meta.traces_missing {
        put("x-traces", "missing");
    }
    if let Some(seq) = delivery.meta.amends {
        put("x-amends", &seq.to_string());
    }
    map
}

fn records_charged(delivery: &Delivery) -> u64 {
    let counts = delivery.meta.counts;
    if delivery.meta.kind == DeliveryKind::Confirmed {
        u64::from(counts.txs) + u64::from(counts.logs) + u64::from(counts.internal_txs)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use model::chain::ChainId;
    use store::{DeliveryMeta, DeliveryState, RecordCounts, StreamId};

    use super::*;
    use crate::signature::Secrets;

    fn delivery() -> Delivery {
        let meta = DeliveryMeta {
            chain: ChainId(1),
            number: 5,
            hash: B256::ZERO,
            kind: DeliveryKind::Confirmed,
            part: (1, 1),
            traces_missing: false,
            amends: None,
            counts: RecordCounts { txs: 1, logs: 2, internal_txs: 4 },
            created_ms: 0,
        };
        Delivery {
            stream: StreamId::repeat_byte(3),
            seq: 12,
            meta,
            body_bytes: 2,
            digest: B256::repeat_byte(0xab),
            previous_digest: B256::ZERO,
            state: DeliveryState::default(),
        }
    }

    fn said(delivery: Option<&Delivery>) -> HeaderMap {
        let target = TargetInfo {
            tenant: String::new(),
            webhook_url: String::new(),
            tag: String::new(),
            is_sending: true,
            secrets: Secrets::new("s"),
            region: "eu-central-1".into(),
            success_rate: 100,
        };
        headers(
            &target,
            &Said {
                id: "the-id",
                body: b"{}",
                now_ms: 1_999,
                signed: None,
                queue_size: 3,
                delivery,
            },
        )
    }

    #[test]
    fn a_whole_confirmed_block_says_its_number_digests_and_records() {
        let map = said(Some(&delivery()));
        for (name, value) in [
            ("content-type", "application/json"),
            ("webhook-id", "the-id"),
            ("webhook-timestamp", "1"),
            ("x-region", "eu-central-1"),
            ("x-queue-size", "3"),
            ("x-records-charged", "7"),
            ("x-sequence", "12"),
            ("x-digest", "0xabababababababababababababababababababababababababababababababab"),
            (
                "x-previous-digest",
                "0x0000000000000000000000000000000000000000000000000000000000000000",
            ),
        ] {
            assert_eq!(map.get(name).and_then(|v| v.to_str().ok()), Some(value), "{name}");
        }
        assert!(map.contains_key("x-signature") && map.contains_key("webhook-signature"));
        for name in ["x-part", "x-traces", "x-amends"] {
            assert!(!map.contains_key(name), "{name}");
        }
    }

    #[test]
    fn parts_missing_traces_and_amendments_are_said_and_unconfirmed_blocks_charge_nothing() {
        let mut delivery = delivery();
        delivery.meta.kind = DeliveryKind::Unconfirmed;
        delivery.meta.part = (2, 3);
        delivery.meta.traces_missing = true;
        delivery.meta.amends = Some(9);
        let map = said(Some(&delivery));
        for (name, value) in [
            ("x-records-charged", "0"),
            ("x-part", "2/3"),
            ("x-traces", "missing"),
            ("x-amends", "9"),
        ] {
            assert_eq!(map.get(name).and_then(|v| v.to_str().ok()), Some(value), "{name}");
        }
    }

    #[test]
    fn what_has_no_number_is_signed_all_the_same() {
        let map = said(None);
        assert!(map.contains_key("x-signature") && map.contains_key("webhook-signature"));
        for name in ["x-sequence", "x-digest", "x-previous-digest"] {
            assert!(!map.contains_key(name), "{name}");
        }
    }
}
