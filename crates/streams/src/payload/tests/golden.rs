//! Whole bodies as they must be.

use alloy_primitives::{B256, U256};
use serde_json::json;

use super::head;
use crate::definition::{AbiItem, AbiParam, Definition};
use crate::matching::items::{
    BalanceItem, Erc20Approval, Erc20Transfer, InternalItem, Items, LogItem, LogOrigin,
    NftApproval, NftStandard, NftTransfer, TriggerResults, TxItem, TxReceipt,
};
use crate::matching::tests::made_block::{A, B, COIN};
use crate::matching::tests::needs::{matched, token, trigger};
use crate::matching::tests::plans::logs;
use crate::payload::{test_body, write_parts};

fn body(items: &Items) -> String {
    let abi = None;
    let mut parts = write_parts(&head("webhook", &abi), items, usize::MAX);
    assert_eq!(parts.len(), 1);
    String::from_utf8(parts.remove(0).1.to_vec()).unwrap()
}

fn hex(byte: &str, bytes: usize) -> String {
    format!("0x{}", byte.repeat(bytes))
}

fn tx() -> TxItem {
    TxItem {
        place: 8,
        hash: B256::repeat_byte(0x8d),
        gas: Some(74842),
        gas_price: Some(U256::from(1_500_000_007u64)),
        nonce: Some(27),
        input: Some(vec![0xa9, 0x05].into()),
        from: A,
        to: Some(COIN),
        value: Some(U256::ZERO),
        kind: 2,
        signature: [Some(U256::ONE), Some(U256::MAX), Some(U256::from(5))],
        receipt: TxReceipt {
            cumulative_gas_used: Some(401_833),
            gas_used: Some(49895),
            contract_address: None,
            root: None,
            status: Some(1),
        },
        triggered_by: vec![A],
        triggers: TriggerResults::default(),
    }
}

fn origin() -> LogOrigin {
    LogOrigin {
        log: 0,
        transaction_hash: B256::repeat_byte(0x8d),
        log_index: 6,
        contract: COIN,
        triggered_by: vec![A, B],
        possible_spam: true,
    }
}

fn log() -> LogItem {
    LogItem {
        tx_place: 8,
        log_index: 6,
        transaction_hash: B256::repeat_byte(0x8d),
        address: COIN,
        data: vec![0xde, 0xad].into(),
        topics: vec![B256::repeat_byte(0xdd), B256::repeat_byte(1)],
        triggered_by: vec![A, B],
        ..LogItem::default()
    }
}

#[test]
fn the_keys_stand_as_in_the_live_service() {
    let transfer = Erc20Transfer {
        origin: origin(),
        from: A,
        to: B,
        value: U256::from(10).pow(U256::from(22)),
        triggers: TriggerResults::default(),
    };
    let internal = InternalItem {
        tx_place: 8,
        from: A,
        to: None,
        value: U256::from(7),
        gas: 9000,
        transaction_hash: B256::repeat_byte(0x8d),
        ..InternalItem::default()
    };
    let mut items = Items {
        txs: vec![tx()],
        logs: vec![log()],
        internals: vec![internal],
        erc20_transfers: vec![transfer],
        ..Items::default()
    };
    items.fill_tokens([(COIN, token("BirdgangToken", Some(18)))]);
    let (hash, a, b, coin) = (hex("8d", 32), hex("a1", 20), hex("b2", 20), hex("c3", 20));
    let (r, block, t0, t1) = (U256::MAX, hex("77", 32), hex("dd", 32), hex("01", 32));
    let expected = [
        r#"{"confirmed":false,"chainId":"0x539","abi":[],"streamId":"0d653a7a-05da-4f4a-8eec-bca8725046cd","tag":"webhook","retries":0,"#,
        &format!(r#""block":{{"number":"77","hash":"{block}","timestamp":"1700000000"}},"#),
        &format!(
            r#""logs":[{{"logIndex":"6","transactionHash":"{hash}","address":"{coin}","data":"0xdead","topic0":"{t0}","topic1":"{t1}","topic2":null,"topic3":null,"triggered_by":["{a}","{b}"]}}],"#
        ),
        &format!(
            r#""txs":[{{"hash":"{hash}","gas":"74842","gasPrice":"1500000007","nonce":"27","input":"0xa905","transactionIndex":"8","fromAddress":"{a}","toAddress":"{coin}","value":"0","type":"2","v":"1","r":"{r}","s":"5","receiptCumulativeGasUsed":"401833","receiptGasUsed":"49895","receiptContractAddress":null,"receiptRoot":null,"receiptStatus":"1","triggered_by":["{a}"]}}],"#
        ),
        &format!(
            r#""txsInternal":[{{"from":"{a}","to":null,"value":"7","gas":"9000","transactionHash":"{hash}","triggered_by":[]}}],"#
        ),
        &format!(
            r#""erc20Transfers":[{{"transactionHash":"{hash}","logIndex":"6","contract":"{coin}","triggered_by":["{a}","{b}"],"from":"{a}","to":"{b}","value":"10000000000000000000000","tokenName":"BirdgangToken","tokenSymbol":"BIRDGANGTOKEN","tokenDecimals":"18","possibleSpam":true,"valueWithDecimals":"10000"}}],"#
        ),
        r#""erc20Approvals":[],"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}"#,
    ];
    assert_eq!(body(&items), expected.concat());
}

#[test]
fn approvals_and_nfts_are_told_in_all_their_forms() {
    let approval = |token_id: Option<u64>| NftApproval {
        origin: origin(),
        account: A,
        operator: B,
        approved_all: token_id.is_none(),
        token_id: token_id.map(U256::from),
    };
    let transfer = |operator, standard| NftTransfer {
        origin: origin(),
        operator,
        from: A,
        to: B,
        token_id: U256::from(9),
        amount: U256::from(3),
        standard,
        triggers: TriggerResults::default(),
    };
    let items = Items {
        logs: vec![log()],
        erc20_approvals: vec![Erc20Approval {
            origin: origin(),
            owner: A,
            spender: B,
            value: U256::MAX,
            triggers: TriggerResults::default(),
        }],
        nft_transfers: vec![
            transfer(None, NftStandard::Erc721),
            transfer(Some(COIN), NftStandard::Erc1155),
        ],
        nft_approvals: vec![approval(Some(4)), approval(None)],
        ..Items::default()
    };
    let (hash, a, b, coin) = (hex("8d", 32), hex("a1", 20), hex("b2", 20), hex("c3", 20));
    let origin = format!(
        r#""transactionHash":"{hash}","logIndex":"6","contract":"{coin}","triggered_by":["{a}","{b}"]"#
    );
    let nft = |kind: &str| {
        format!(
            r#""tokenName":"","tokenSymbol":"","tokenContractType":"{kind}","possibleSpam":true"#
        )
    };
    let (erc721, erc1155) = (nft("ERC721"), nft("ERC1155"));
    let max = U256::MAX;
    let expected = [
        &format!(
            r#""erc20Transfers":[],"erc20Approvals":[{{{origin},"owner":"{a}","spender":"{b}","value":"{max}","tokenName":"","tokenSymbol":"","tokenDecimals":"","possibleSpam":true,"valueWithDecimals":null}}],"#
        ),
        &format!(
            r#""nftTokenApprovals":[{{{origin},"account":"{a}","operator":"{b}","approvedAll":false,"tokenId":"4",{erc721}}},{{{origin},"account":"{a}","operator":"{b}","approvedAll":true,"tokenId":null,{erc1155}}}],"#
        ),
        &format!(
            r#""nftApprovals":{{"ERC721":[{{{origin},"owner":"{a}","approved":"{b}","tokenId":"4",{erc721}}}],"ERC1155":[{{{origin},"account":"{a}","operator":"{b}","approved":true,{erc1155}}}]}},"#
        ),
        &format!(
            r#""nftTransfers":[{{"operator":null,"from":"{a}","to":"{b}","tokenId":"9","amount":"3",{origin},{erc721}}},{{"operator":"{coin}","from":"{a}","to":"{b}","tokenId":"9","amount":"3",{origin},{erc1155}}}],"#
        ),
        r#""nativeBalances":[]}"#,
    ];
    let body = body(&items);
    let start = body.find("\"erc20Transfers\"").unwrap();
    assert_eq!(&body[start..], expected.concat());
}

#[test]
fn nothing_is_null_where_a_node_said_nothing() {
    let bare = TxItem { hash: B256::ZERO, from: A, ..TxItem::default() };
    let body = body(&Items { txs: vec![bare], ..Items::default() });
    for key in ["gas", "gasPrice", "nonce", "input", "toAddress", "value", "v", "r", "s"] {
        assert!(body.contains(&format!("\"{key}\":null")), "{key}");
    }
    for key in ["CumulativeGasUsed", "GasUsed", "ContractAddress", "Root", "Status"] {
        assert!(body.contains(&format!("\"receipt{key}\":null")), "{key}");
    }
    assert!(body.contains("\"type\":\"0\""));
}

#[test]
fn what_a_node_answered_stands_in_the_items() {
    let definition = Definition {
        triggers: vec![trigger("erc20transfer", "$contract", "$from", "address")],
        ..logs()
    };
    let mut found = matched(definition, &[B]);
    let needs = found.items.needs(&found.plan);
    let answer = Ok::<_, String>(U256::from(1234).to_be_bytes::<32>());
    found.items.fill_trigger(&found.plan, needs.triggers[0].place, answer);
    let balance = |address, balance| BalanceItem { address, tx_place: 3, balance };
    found.items.balances = vec![
        balance(A, Some(Ok(U256::from(5)))),
        balance(B, Some(Err("a \"bad\" node".to_owned()))),
        balance(COIN, None),
    ];
    let body = body(&found.items);
    assert!(
        body.contains(
            r#","valueWithDecimals":null,"triggers":[{"name":"output1","value":"1234"}]}"#
        ),
        "{body}"
    );
    let (a, b, coin) = (hex("a1", 20), hex("b2", 20), hex("c3", 20));
    let end = format!(
        r#""nativeBalances":[{{"address":"{a}","balance":"5"}}],"nativeBalanceErrors":[{{"address":"{b}","error":"a \"bad\" node"}},{{"address":"{coin}","error":"the balance was not asked for"}}]}}"#
    );
    assert!(body.ends_with(&end), "{body}");
}

#[test]
fn what_contracts_answer_is_written_as_javascript_would() {
    let values = json!({"b": [1, -2, true, null, {"10": "x", "9": "y", "a": 5, "01": "z"}], "2": "\u{7f}\u{2028}é\u{1f}"});
    let mut out = Vec::new();
    crate::payload::json::put_value(&mut out, &values);
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text,
        "{\"2\":\"\u{7f}\u{2028}é\\u001f\",\"b\":[\"1\",\"-2\",true,null,{\"9\":\"y\",\"10\":\"x\",\"01\":\"z\",\"a\":\"5\"}]}"
    );
}

#[test]
fn the_abi_is_echoed_as_it_was_given() {
    let param = AbiParam {
        name: "from".to_owned(),
        kind: "address".to_owned(),
        indexed: Some(true),
        ..AbiParam::default()
    };
    let abi = Some(vec![AbiItem {
        anonymous: Some(false),
        inputs: Some(vec![param]),
        name: Some("Transfer".to_owned()),
        kind: "event".to_owned(),
        gas: Some(9_007_199_254_740_991),
        ..AbiItem::default()
    }]);
    let parts = write_parts(&head("t", &abi), &Items::default(), usize::MAX);
    let body = String::from_utf8(parts[0].1.to_vec()).unwrap();
    let echoed = r#""abi":[{"anonymous":false,"inputs":[{"name":"from","type":"address","indexed":true}],"name":"Transfer","type":"event","gas":9007199254740991}],"streamId""#;
    assert!(body.contains(echoed), "{body}");
}

#[test]
fn the_test_call_is_a_body_without_anything() {
    let abi = None;
    let mut head = head("", &abi);
    head.confirmed = true;
    head.stream = String::new();
    head.hash = B256::ZERO;
    let empty = write_parts(&head, &Items::default(), 0);
    assert_eq!(empty.len(), 1, "a block without items is one body");
    let empty = String::from_utf8(empty[0].1.to_vec()).unwrap();
    let empty = empty
        .replace("\"0x539\"", "\"\"")
        .replace("\"77\"", "\"\"")
        .replace(&format!("\"{}\"", hex("00", 32)), "\"\"")
        .replace("\"1700000000\"", "\"\"");
    assert_eq!(test_body(), empty);
}
