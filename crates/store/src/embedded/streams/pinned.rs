//! The bytes of hand-made rows. A store is opened by programs of many versions: where a byte changes here, the
//! format changed and old stores must be upgraded.

use alloy_primitives::{Address, B256, hex};
use bytes::Bytes;
use model::chain::ChainId;

use super::attempt_row::AttemptRow;
use super::definitions::pack_stream;
use super::delivery_row::pack_delivery;
use super::keys;
use super::match_row::MatchRow;
use super::packed_body::BodyPacker;
use super::queue_row::QueueRow;
use super::state_row::StateRow;
use crate::streams::{
    AttemptLog, Delivery, DeliveryKind, DeliveryMeta, DeliveryState, ListAnchor, QueueState,
    RecordCounts, StreamId, StreamRow, StreamTotals,
};

const STREAM: StreamId = StreamId::repeat_byte(0x5a);
const COUNTS: RecordCounts = RecordCounts { txs: 1, logs: 300, internal_txs: 2 };

fn queue() -> QueueRow {
    QueueRow {
        tenant: "ours".to_owned(),
        is_removed: true,
        queue: QueueState {
            last_seq: 9,
            last_digest: B256::repeat_byte(7),
            tried_seq: 8,
            waiting_bytes: 1000,
            waiting: 2,
        },
        totals: StreamTotals {
            webhooks_delivered: 3,
            webhooks_failed: 4,
            txs: 5,
            logs: 6,
            internal_txs: 7,
        },
        addresses: 200,
    }
}

fn delivery() -> Delivery {
    let meta = DeliveryMeta {
        chain: ChainId(1),
        number: 500,
        hash: B256::repeat_byte(1),
        kind: DeliveryKind::Retracted,
        part: (2, 3),
        traces_missing: true,
        amends: Some(4),
        counts: COUNTS,
        created_ms: 1_000,
    };
    Delivery {
        stream: STREAM,
        seq: 5,
        meta,
        body_bytes: 128,
        digest: B256::repeat_byte(2),
        previous_digest: B256::repeat_byte(3),
        state: DeliveryState::default(),
    }
}

fn state() -> StateRow {
    let state = DeliveryState {
        attempts: 2,
        due_ms: Some(5),
        delivered_ms: Some(6),
        given_up: true,
        error: Some("no".to_owned()),
    };
    StateRow { state, failed: Some((7, 1)), ended_ms: Some(8) }
}

#[test]
fn rows_have_the_bytes_they_always_had() {
    let row = StreamRow { id: STREAM, tenant: "ours".to_owned(), body: b"{}".to_vec() };
    assert_eq!(hex::encode(pack_stream(&row)), "046f7572737b7d");
    assert_eq!(
        hex::encode(queue().pack()),
        format!("01046f757273{}0908e807020304050607c801", "07".repeat(32))
    );
    let hashes = ["01", "02", "03"].map(|byte| byte.repeat(32)).concat();
    assert_eq!(
        hex::encode(pack_delivery(&delivery())),
        format!("0203{hashes}01f4030203e807800101ac020204")
    );
    assert_eq!(hex::encode(state().pack()), "3f020506026e6f070108");
    let row = MatchRow {
        hash: B256::repeat_byte(1),
        traces_missing: true,
        first_seq: Some(4),
        parts: vec![(COUNTS, Bytes::from_static(b"{}"))],
    };
    assert_eq!(
        hex::encode(row.pack(&mut BodyPacker::default())),
        format!("03{}040101ac020203007b7d", "01".repeat(32))
    );
    let log = AttemptLog {
        webhook_url: "u".to_owned(),
        tag: "t".to_owned(),
        retries: 3,
        error: Some("e".to_owned()),
    };
    let row = AttemptRow { chain: ChainId(1), number: 500, log };
    assert_eq!(hex::encode(row.pack()), "0101f40303017501740165");
}

#[test]
fn keys_have_the_bytes_they_always_had() {
    let stream = "5a".repeat(16);
    let (one, two) = ("0000000000000001", "0000000000000002");
    let address = Address::repeat_byte(9);
    assert_eq!(hex::encode(keys::delivery(STREAM, 1)), format!("{stream}{one}"));
    assert_eq!(hex::encode(keys::address(STREAM, address)), stream.clone() + &"09".repeat(20));
    let found = keys::a_match(STREAM, ChainId(1), 2);
    assert_eq!(hex::encode(found), format!("{stream}{one}{two}"));
    let found = keys::match_by_block(ChainId(1), 2, STREAM);
    assert_eq!(hex::encode(found), format!("{one}{two}{stream}"));
    assert_eq!(hex::encode(keys::due(STREAM, 1, 2)), format!("{stream}{one}{two}"));
    assert_eq!(hex::encode(keys::end(1, STREAM, 2)), format!("{one}{stream}{two}"));
    let at = ListAnchor { at_ms: 1, stream: STREAM, seq: 2, retries: 3 };
    assert_eq!(
        hex::encode(keys::attempt(&keys::tenant("ab"), &at)),
        format!("{two}6162fffffffffffffffe{stream}fffffffffffffffdfffffffc")
    );
}
