//! What a node says comes out as it went in.

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
fn unknown_fields_odd_forms_and_nulls_survive() {
    let tx: Tx = serde_json::from_str(ODD_TX).unwrap();
    let expected: Value = serde_json::from_str(ODD_TX).unwrap();
    assert_eq!(json_of(&tx), expected);
    assert_eq!(tx.nonce, Some(7), "an odd form is still understood");
    assert_eq!(tx.gas, Some(21_000));
}

#[test]
fn quantities_keep_their_exact_text() {
    for text in ["\"0x0\"", "\"0x1\"", "\"0xff\"", "\"0xffffffffffffffff\""] {
        let (value, exact) = <u64 as json_value::JsonValue>::read_json(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        json_value::JsonValue::write_json(&value, &mut out);
        assert!(exact);
        assert_eq!(out, text.as_bytes());
    }
    for text in ["\"0x00\"", "\"0x0a\"", "\"0xFF\"", "7"] {
        assert!(
            !<u64 as json_value::JsonValue>::read_json(text.as_bytes()).unwrap().1,
            "{text} is not the usual form"
        );
    }
    for text in ["\"0x\"", "\"\"", "\"0x+1\"", "\"zz\"", "{}", "-1", "\"0x10000000000000000\""] {
        assert!(<u64 as json_value::JsonValue>::read_json(text.as_bytes()).is_none(), "{text}");
    }
}

#[test]
fn what_fills_a_text_is_large_and_what_stands_inside_is_not() {
    let sizes = [size_of::<Tx>(), size_of::<Receipt>(), size_of::<Log>(), size_of::<Withdrawal>()];
    println!("{sizes:?}");
    assert!(sizes[0] >= 512 && sizes[1] >= 512 && sizes[2] < 512 && sizes[3] < 512, "{sizes:?}");
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

mod any_text {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> Option<Tx> {
        let mut tx = Tx::default();
        let mut reader = reader::Reader::new(text);
        object::Object::read_into(&mut tx, &mut reader)?;
        reader.is_at_end().then_some(tx)
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
            "0x[0-9a-f]{0,70}".prop_map(Value::from),
            "0x[0-9A-Fa-f]{40}|0x[0-9a-fA-F]{64}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map(".{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Lists of objects are the one thing that must have the form it should have.
    fn name() -> impl Strategy<Value = String> {
        let known =
            ["hash", "from", "to", "nonce", "value", "input", "r", "v", "mint", "isSystemTx"];
        let lists = ["blobVersionedHashes", "gasPrice", "type"];
        prop_oneof![
            proptest::sample::select([known.as_slice(), &lists].concat()).prop_map(str::to_owned),
            ".{0,6}"
        ]
    }

    proptest! {
        #[test]
        fn whatever_a_node_says_is_said_again(
            members in proptest::collection::hash_map(name(), value(), 0..12),
            pretty in any::<bool>(),
        ) {
            let said = Value::Object(members.into_iter().collect());
            let text = match pretty {
                true => serde_json::to_string_pretty(&said).unwrap(),
                false => said.to_string(),
            };
            let tx = read(text.as_bytes()).unwrap();
            prop_assert_eq!(json_of(&tx), said);
        }

        #[test]
        fn what_is_no_json_is_not_read(at in 0..ODD_TX.len(), byte in any::<u8>(), cut in any::<bool>()) {
            let mut text = ODD_TX.as_bytes().to_vec();
            text[at] = byte;
            if cut {
                text.truncate(at);
            }
            if read(&text).is_some() {
                prop_assert!(serde_json::from_slice::<Value>(&text).is_ok());
            }
        }
    }
}
