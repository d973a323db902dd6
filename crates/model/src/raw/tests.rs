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
    let frames = read_calls(GETH, &[Tx::default()]).unwrap().remove(0);
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
fn a_key_that_a_call_has_twice_is_refused() {
    let one = r#"[{"result":{"type":"CALL","from":"0x0000000000000000000000000000000000000001","value":"0x1","calls":[]}}]"#;
    let parity = r#"[{"action":{"from":"0x0000000000000000000000000000000000000001","value":"0x1"},"type":"call","traceAddress":[],"transactionPosition":0}]"#;
    let txs = [Tx::default()];
    assert!(read_calls(one, &txs).is_ok() && read_parity_traces(parity, &txs).is_ok());
    for (key, value) in [("value", "\"0x2\""), ("calls", "[]"), ("type", "\"CREATE\"")] {
        let twice = one.replace("\"value\":", &format!("\"{key}\":{value},\"value\":"));
        let fault = read_calls(&twice, &txs).unwrap_err().to_string();
        assert!(fault.contains(key), "{key}: {fault}");
    }
    let twice = parity.replace("\"value\":", "\"value\":\"0x2\",\"value\":");
    assert!(read_parity_traces(&twice, &txs).is_err());
    let odd = one.replace("\"value\":", "\"beside\":1,\"beside\":2,\"value\":");
    assert!(read_calls(&odd, &txs).is_ok(), "of others nothing is asked");
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
    let list = format!("[{{\"result\":{text}}}]");
    let frames = read_calls(&list, &[Tx::default()]).unwrap().remove(0);
    assert_eq!(frames.len(), 1_001);
    assert!(frames.iter().enumerate().all(|(depth, frame)| frame.path.len() == depth));
}

#[test]
fn a_list_of_nothing_takes_no_more_memory_than_its_text_warrants() {
    let list = |count: usize| format!("[{}{{}}]", "{},".repeat(count - 1));
    let read = |text: &str| object::read_list::<Tx>(&mut reader::Reader::new(text.as_bytes()));
    assert_eq!(read(&list(1_000)).unwrap().len(), 1_000);
    assert!(read(&list(100_000)).is_none());
    let real = format!("[{}]", vec![ODD_TX; 5_000].join(","));
    assert_eq!(read(&real).unwrap().len(), 5_000);
}

fn read_calls(text: &str, txs: &[Tx]) -> Result<Vec<Vec<Frame>>, TraceFault> {
    BlockTraces::read_call_tracer(text, txs).map(|traces| traces.frames)
}

fn tx(hash: u8) -> Tx {
    Tx { hash: Some([hash; 32].into()), ..Tx::default() }
}

fn geth_entry(hash: &str, value: u8) -> String {
    let call = r#""type":"CALL","from":"0x0000000000000000000000000000000000000001","to":"0x0000000000000000000000000000000000000002""#;
    format!(r#"{{{hash}"result":{{{call},"value":"{value:#x}"}}}}"#)
}

fn parity_row(hash: &str, position: &str, address: &str, value: u8) -> String {
    let call = r#""callType":"call","from":"0x0000000000000000000000000000000000000001","to":"0x0000000000000000000000000000000000000002""#;
    format!(
        r#"{{"action":{{{call},"value":"{value:#x}"}},{hash}{position}"traceAddress":{address},"type":"call"}}"#
    )
}

fn values(traces: Result<Vec<Vec<Frame>>, TraceFault>) -> Result<Vec<Vec<u64>>, String> {
    let of_tx = |frames: Vec<Frame>| frames.iter().map(|frame| frame.value.to::<u64>()).collect();
    traces.map(|all| all.into_iter().map(of_tx).collect()).map_err(|fault| fault.to_string())
}

/// bor leaves out its state-sync transaction, or names it by another hash; a node that has just mined
/// gives an empty or a short list; one transaction can fail in the tracer.
#[test]
fn traces_of_geth_find_their_transactions_by_hash_and_all_must_be_there() {
    let txs = [tx(1), tx(2)];
    let named =
        |hash: u8, value| geth_entry(&format!(r#""txHash":"{}","#, tx(hash).hash.unwrap()), value);
    let (one, two, foreign) = (named(1, 1), named(2, 2), named(9, 9));
    let (bare_one, bare_two) = (geth_entry("", 1), geth_entry("", 2));
    let failed = format!(r#"{{"txHash":"{}","error":"execution timeout"}}"#, tx(2).hash.unwrap());
    let hollow = format!(r#"{{"txHash":"{}","result":{{ }}}}"#, tx(2).hash.unwrap());
    for (list, expected) in [
        (vec![&one, &two], Ok(())),
        (vec![&two, &one], Ok(())),
        (vec![&one, &foreign, &two], Ok(())),
        (vec![&bare_one, &bare_two], Ok(())),
        (vec![&one, &foreign], Err("no trace of transaction 1: 2 traces for 2 transactions")),
        (vec![&one], Err("no trace of transaction 1: 1 traces for 2 transactions")),
        (vec![], Err("no trace of transaction 0: 0 traces for 2 transactions")),
        (vec![&bare_one], Err("no trace of transaction 1: 1 traces for 2 transactions")),
        (
            vec![&bare_one, &bare_two, &bare_two],
            Err("no trace of transaction 2: 3 traces for 2 transactions"),
        ),
        (vec![&one, &failed], Err("no trace of transaction 1: execution timeout")),
        (vec![&one, &hollow], Err("no trace of transaction 1: its trace is empty")),
        (
            vec![&one, &two, &two],
            Err("no trace of transaction 2: two traces are of one transaction"),
        ),
    ] {
        let list: Vec<&str> = list.into_iter().map(String::as_str).collect();
        let text = format!("[{}]", list.join(","));
        let expected = expected.map(|()| vec![vec![1], vec![2]]).map_err(str::to_owned);
        assert_eq!(values(read_calls(&text, &txs)), expected, "{text}");
    }
    assert!(matches!(read_calls("[{", &txs), Err(TraceFault::Malformed(_))));
}

#[test]
fn rows_of_parity_find_their_transactions_by_hash_and_all_must_have_a_root() {
    let txs = [tx(1), tx(2)];
    let named = |hash: u8, address: &str, value| {
        parity_row(
            &format!(r#""transactionHash":"{}","#, tx(hash).hash.unwrap()),
            "",
            address,
            value,
        )
    };
    let placed = |position: u8, value| {
        parity_row("", &format!(r#""transactionPosition":{position},"#), "[]", value)
    };
    let (one, inner, two) = (named(1, "[]", 1), named(1, "[0]", 7), named(2, "[]", 2));
    for (list, expected) in [
        (vec![one.clone(), two.clone()], Ok(vec![vec![1], vec![2]])),
        (vec![two.clone(), inner.clone(), one.clone()], Ok(vec![vec![1, 7], vec![2]])),
        (vec![named(9, "[]", 9), one.clone(), two.clone()], Ok(vec![vec![1], vec![2]])),
        (vec![placed(1, 2), placed(0, 1)], Ok(vec![vec![1], vec![2]])),
        (vec![one.clone()], Err("no trace of transaction 1: no row of the transaction itself")),
        (vec![inner, two], Err("no trace of transaction 0: no row of the transaction itself")),
        (vec![], Err("no trace of transaction 0: no row of the transaction itself")),
        (vec![parity_row("", "", "[]", 1)], Err("malformed trace_block: a row of no transaction")),
    ] {
        let text = format!("[{}]", list.join(","));
        assert_eq!(
            values(read_parity_traces(&text, &txs)),
            expected.map_err(str::to_owned),
            "{text}"
        );
    }
}

#[test]
fn rows_of_parity_are_of_the_block_that_they_name_and_as_many_as_they_say() {
    use alloy_primitives::B256;
    let block = B256::repeat_byte(7);
    let txs = [Tx { block_hash: Some(block), ..tx(1) }];
    let row = |block: B256, below: &str, address: &str, value| {
        let hash = tx(1).hash.unwrap();
        let extra = format!(r#""transactionHash":"{hash}","blockHash":"{block}",{below}"#);
        parity_row(&extra, "", address, value)
    };
    let (root, inner) = (row(block, r#""subtraces":1,"#, "[]", 1), row(block, "", "[0]", 2));
    let told = row(block, r#""subtraces":0,"#, "[0]", 2);
    let foreign = row(B256::repeat_byte(8), r#""subtraces":0,"#, "[0]", 2);
    for (list, expected) in [
        (vec![&root, &told], Ok(vec![vec![1, 2]])),
        // One says nothing, so nothing is known to be missing.
        (vec![&root, &inner], Ok(vec![vec![1, 2]])),
        (vec![&root], Err("no trace of transaction 0: 0 rows below its own, of 1".to_owned())),
        (
            vec![&root, &foreign],
            Err(format!(
                "no trace of transaction 0: the rows are of block {}, not of {block}",
                B256::repeat_byte(8)
            )
            .chars()
            .take(27 + 160)
            .collect()),
        ),
    ] {
        let list: Vec<&str> = list.into_iter().map(String::as_str).collect();
        let text = format!("[{}]", list.join(","));
        assert_eq!(values(read_parity_traces(&text, &txs)), expected, "{text}");
    }
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

    /// With another byte at a place, or cut off there.
    fn changed(text: &str, at: usize, byte: u8, cut: bool) -> Vec<u8> {
        let mut text = text.as_bytes().to_vec();
        text[at] = byte;
        if cut {
            text.truncate(at);
        }
        text
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
        fn calls_that_are_no_json_are_not_read(at in 0..GETH.len(), byte in any::<u8>(), cut in any::<bool>()) {
            let text = changed(GETH, at, byte, cut);
            let mut reader = reader::Reader::new(&text);
            let read = BlockTraces::next_call_tracer(&mut reader, &[Tx::default()]);
            if read.is_ok() && reader.is_at_end() {
                prop_assert!(serde_json::from_slice::<Value>(&text).is_ok(), "{}", String::from_utf8_lossy(&text));
            }
        }

        #[test]
        fn what_is_no_json_is_not_read(at in 0..ODD_TX.len(), byte in any::<u8>(), cut in any::<bool>()) {
            let text = changed(ODD_TX, at, byte, cut);
            if read(&text).is_some() {
                prop_assert!(serde_json::from_slice::<Value>(&text).is_ok());
            }
        }
    }
}

#[test]
fn a_block_with_hashes_is_a_header_and_its_hashes() {
    let hash = "0x00000000000000000000000000000000000000000000000000000000000000aa";
    let text = format!(r#"{{"number":"0x5","transactions":["{hash}"],"odd\"name":[1]}}"#);
    let read = |text: &str| read_header_and_hashes(&mut reader::Reader::new(text.as_bytes()));
    let (header, hashes) = read(&text).unwrap();
    assert_eq!((header.number, header.transactions), (Some(5), None));
    assert_eq!(hashes, [hash.parse().unwrap()] as [alloy_primitives::B256; 1]);
    assert_eq!(header.extras, [("odd\"name".into(), "[1]".into())]);
    for text in [
        "{}",
        "null",
        r#"{"number":"0x5"}"#,
        r#"{"transactions":[{}]}"#,
        r#"{"transactions":[],"transactions":[]}"#,
        r#"{"number":"0x1","number":"0x2","transactions":[]}"#,
        r#"{"transactions":["#,
    ] {
        assert!(read(text).is_none(), "{text}");
    }
}
