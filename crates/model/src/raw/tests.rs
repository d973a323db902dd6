//! What a node says comes out as it went in: through JSON and through the packed form.

use serde_json::Value;

use super::*;

const ODD_TX: &str = r#"{"hash":"0x00000000000000000000000000000000000000000000000000000000000000aa",
 "from":"0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF","to":null,"nonce":"0x07","gas":21000,"value":"0xde0b6b3a7640000",
 "input":"0x","type":"0x0","v":"0x1b","chainId":"0x1","fork\"field":{"a":[1,2,{"b":null}]},"gasPrice":null,"accessList":null}"#;

fn json_of(tx: &Tx) -> Value {
    let mut out = Vec::new();
    tx.write_json(&mut out);
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn unknown_fields_odd_forms_and_nulls_survive_json_and_packing() {
    let tx: Tx = serde_json::from_str(ODD_TX).unwrap();
    let expected: Value = serde_json::from_str(ODD_TX).unwrap();
    assert_eq!(json_of(&tx), expected);
    assert_eq!(tx.nonce, Some(7), "an odd form is still understood");
    assert_eq!(tx.gas, Some(21_000));

    let template = Tx { chain_id: Some(1), ..Tx::default() };
    let mut packed = Vec::new();
    tx.pack_with(&template, &mut packed);
    let back = Tx::unpack_with(&template, &mut packed.as_slice()).unwrap();
    assert_eq!(back, tx);
    assert_eq!(json_of(&back), expected);
}

#[test]
fn a_field_that_follows_from_the_block_costs_two_bits() {
    let tx: Tx = serde_json::from_str(ODD_TX).unwrap();
    let mut alone = Vec::new();
    tx.pack_with(&Tx::default(), &mut alone);
    let mut with_template = Vec::new();
    tx.pack_with(&Tx { hash: tx.hash, ..Tx::default() }, &mut with_template);
    assert_eq!(alone.len(), with_template.len() + 32);
}

#[test]
fn cut_bytes_never_unpack_and_never_panic() {
    let tx: Tx = serde_json::from_str(ODD_TX).unwrap();
    let mut packed = Vec::new();
    tx.pack_with(&Tx::default(), &mut packed);
    for length in 0..packed.len() {
        assert_eq!(Tx::unpack_with(&Tx::default(), &mut &packed[..length]), None);
    }
}

#[test]
fn quantities_keep_their_exact_text() {
    for text in ["\"0x0\"", "\"0x1\"", "\"0xff\"", "\"0xffffffffffffffff\""] {
        let (value, exact) = <u64 as wire::Wire>::read_json(text).unwrap();
        let mut out = Vec::new();
        wire::Wire::write_json(&value, &mut out);
        assert!(exact);
        assert_eq!(out, text.as_bytes());
    }
    for text in ["\"0x00\"", "\"0x0a\"", "\"0xFF\"", "7"] {
        assert!(!<u64 as wire::Wire>::read_json(text).unwrap().1, "{text} is not the usual form");
    }
    for text in ["\"0x\"", "\"\"", "\"0x+1\"", "\"zz\"", "{}", "-1", "\"0x10000000000000000\""] {
        assert!(<u64 as wire::Wire>::read_json(text).is_none(), "{text}");
    }
}

const GETH: &str = r#"[{"txHash":"0x00","result":{"type":"CALL","from":"0x0000000000000000000000000000000000000001",
 "to":"0x0000000000000000000000000000000000000002","value":"0x5","gas":"0x10","gasUsed":"0x9","input":"0x","calls":[
  {"calls":[{"type":"CALL","from":"0x0000000000000000000000000000000000000003","to":"0x0000000000000000000000000000000000000004","value":"0x1","gas":"0x1","gasUsed":"0x1","input":"0x"}],
   "type":"CALL","from":"0x0000000000000000000000000000000000000002","to":"0x0000000000000000000000000000000000000003","value":"0x2","gas":"0x8","gasUsed":"0x8","input":"0xab","error":"execution reverted"},
  {"type":"SELFDESTRUCT","from":"0x0000000000000000000000000000000000000002","to":"0x0000000000000000000000000000000000000009","value":"0x3","gas":"0x0","gasUsed":"0x0","input":"0x"}]}}]"#;

#[test]
fn the_children_of_a_failed_call_are_undone() {
    let frames = read_geth_traces(GETH, 1).unwrap().remove(0);
    let seen: Vec<_> = frames.iter().map(|f| (f.path.clone(), f.kind, f.moves_value())).collect();
    assert_eq!(
        seen,
        [
            (vec![], FrameKind::Call, true),
            (vec![0], FrameKind::Call, false),
            (vec![0, 0], FrameKind::Call, false),
            (vec![1], FrameKind::SelfDestruct, true),
        ]
    );
    assert!(frames[2].undone && frames[2].error.is_none());
}

#[test]
fn calls_nested_a_thousand_deep_are_read_in_order() {
    let mut text = String::new();
    let call = r#"{"type":"CALL","from":"0x0000000000000000000000000000000000000001","to":"0x0000000000000000000000000000000000000002","value":"0x0","gas":"0x1","gasUsed":"0x1","input":"0x""#;
    for _ in 0..1_000 {
        text.push_str(call);
        text.push_str(r#","calls":["#);
    }
    text.push_str(call);
    text.push('}');
    for _ in 0..1_000 {
        text.push_str("]}");
    }
    let frames = read_geth_traces(&format!("[{{\"result\":{text}}}]"), 1).unwrap().remove(0);
    assert_eq!(frames.len(), 1_001);
    assert!(frames.iter().enumerate().all(|(depth, frame)| frame.path.len() == depth));
}

#[test]
fn frames_survive_packing() {
    for frame in read_geth_traces(GETH, 1).unwrap().remove(0) {
        let mut packed = Vec::new();
        frame.pack(&mut packed);
        assert_eq!(Frame::unpack(&mut packed.as_slice()), Some(frame));
    }
}
