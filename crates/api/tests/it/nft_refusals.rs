//! Operations 2 and 3, asked wrongly: each refusal names the parameter and the value.

use crate::nft_market::{APES, CATS, NftMarket, START, ape};
use crate::test_server::KEY;

const MARKETS: &str = "is not one of opensea, blur, looksrare, x2y2, 0xprotocol";
const NO_OPERATION: &str = "no operation is at this path of the data host: it has /{address}, \
    /nft/{address}/trades, /nft/{address}/lowestprice, /erc20/{address}/price and /dateToBlock below /api/v2.2";
const NO_CHAIN: &str = "is not a known chain; give a name such as eth or a hex id such as 0x1";

fn market() -> NftMarket {
    let mut market = NftMarket::new();
    market.mine(START, &[ape(1, 1), ape(2, 2), ape(3, 3)]);
    market
}

#[test]
fn both_operations_refuse_what_they_share() {
    let market = market();
    for operation in ["trades", "lowestprice"] {
        let ask = |address: &str, query: &str| {
            market.server.get(&format!("/api/v2.2/nft/{address}/{operation}?{query}"))
        };
        let offered = match operation {
            "trades" => "chain with value 'silent' is not offered by this operation (NFT trades)",
            _ => "chain with value 'silent' is not offered by this operation (NFT lowest price)",
        };
        let apes = format!("{APES:#x}");
        for (address, query, says) in [
            ("0x1234", "", "address with value '0x1234' is not a valid hex address".to_owned()),
            ("apes", "", "address with value 'apes' is not a valid hex address".into()),
            (
                &apes[2..],
                "",
                format!("address with value '{}' is not a valid hex address", &apes[2..]),
            ),
            (&apes, "marketplace=ebay", format!("marketplace with value 'ebay' {MARKETS}")),
            (
                &apes,
                "marketplace=opensea,blur",
                format!("marketplace with value 'opensea,blur' {MARKETS}"),
            ),
            (
                &apes,
                "marketplace=cryptopunks",
                format!("marketplace with value 'cryptopunks' {MARKETS}"),
            ),
            (&apes, "chain=nowhere", format!("chain with value 'nowhere' {NO_CHAIN}")),
            (&apes, "chain=silent", offered.into()),
            (
                &apes,
                "chain=polygon",
                "chain with value 'polygon' is not served here; served chains: eth, silent".into(),
            ),
        ] {
            let answer = ask(address, query);
            assert_eq!(answer.status, 400, "{operation} {query}");
            assert!(answer.message().starts_with(&says), "{operation} {query}: {answer:?}");
        }
        let target = format!("/api/v2.2/nft/{apes}/{operation}");
        for (head, status, says) in [
            (
                format!("GET {target} HTTP/1.1\r\n"),
                401,
                "API key is missing; send it in the X-API-Key header",
            ),
            (
                format!("GET {target} HTTP/1.1\r\nx-api-key: wrong\r\n"),
                401,
                "invalid token: this API key is not known here",
            ),
            (
                format!("POST {target} HTTP/1.1\r\nx-api-key: {KEY}\r\n"),
                405,
                "method POST is not allowed here",
            ),
            (format!("GET {target}/more HTTP/1.1\r\nx-api-key: {KEY}\r\n"), 404, NO_OPERATION),
        ] {
            let answer = market.server.send(&head, b"");
            assert_eq!((answer.status, answer.message()), (status, says.to_owned()), "{head}");
        }
        // Unknown parameters are nobody's business, and an empty value counts as not given.
        assert_eq!(ask(&apes, "wat=1&marketplace=&chain=&cursor=&days=&limit=").status, 200);
        assert_eq!(ask(&apes.to_uppercase().replace("0X", "0x"), "chain=Ethereum").status, 200);
    }
}

#[test]
fn trades_refuse_ranges_limits_and_cursors_that_make_no_sense() {
    let market = market();
    let limit = |value: &str| format!("limit with value '{value}' is not a number from 1 to 500");
    for (query, says) in [
        ("limit=0", limit("0")),
        ("limit=501", limit("501")),
        ("limit=-1", limit("-1")),
        ("limit=abc", limit("abc")),
        ("limit=1.5", limit("1.5")),
        ("limit=99999999999999999999", limit("99999999999999999999")),
        ("to_block=latest", "to_block with value 'latest' is not a block number".into()),
        ("from_block=-1", "from_block with value '-1' is not a block number".into()),
        ("from_block=0x10", "from_block with value '0x10' is not a block number".into()),
        (
            "cursor=nonsense",
            "cursor is malformed: pass the cursor of the previous page unchanged".into(),
        ),
    ] {
        let answer = market.trades(APES, query);
        assert_eq!((answer.status, answer.message()), (400, says), "{query}");
    }
    for (query, says) in [
        ("from_date=never", "from_date: 'never' is not a date"),
        ("to_date=31.2.2024", "to_date: '31.2.2024' is not a date"),
    ] {
        let answer = market.trades(APES, query);
        assert_eq!(answer.status, 400);
        assert!(answer.message().starts_with(says), "{answer:?}");
    }
    // Asked well, and nothing there.
    for (contract, query) in
        [(CATS, ""), (APES, "from_block=9&to_block=3"), (APES, "from_block=18446744073709551615")]
    {
        let answer = market.trades(contract, query);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body, r#"{"page":"0","page_size":"100","cursor":"","result":[]}"#);
    }
}

#[test]
fn a_cursor_is_good_for_its_own_question_only() {
    let market = market();
    let cursor =
        |query: &str| market.trades(APES, query).json()["cursor"].as_str().unwrap().to_owned();
    let first = cursor("limit=1");
    assert_eq!(market.trades(APES, &format!("cursor={first}")).status, 200);
    assert_eq!(market.trades(APES, &format!("chain=1&limit=1&cursor={first}")).status, 200);
    for query in ["marketplace=opensea", "from_block=0", "to_block=5", "to_date=2030-01-01"] {
        let answer = market.trades(APES, &format!("{query}&cursor={first}"));
        assert_eq!(answer.status, 400, "{query}");
        let (name, value) = query.split_once('=').unwrap();
        let says = format!("{name} with value '{value}' contradicts the cursor");
        assert!(answer.message().starts_with(&says), "{answer:?}");
        let own = cursor(&format!("limit=1&{query}"));
        let repeated = market.trades(APES, &format!("{query}&cursor={own}"));
        assert_eq!(repeated.status, 200);
        let left_out = market.trades(APES, &format!("cursor={own}"));
        assert_eq!(left_out.body, repeated.body, "{query} comes from the cursor");
    }
    assert_eq!(market.trades(APES, &format!("limit=7&cursor={first}")).status, 400);
    let other = market.trades(CATS, &format!("cursor={first}"));
    assert!(other.status == 400 && other.message().contains("contradicts the cursor"), "{other:?}");
    let wallet = market.server.get(&format!("/api/v2.2/{APES:#x}?cursor={first}"));
    assert_eq!(wallet.status, 400);
    assert!(wallet.message().starts_with("cursor belongs to another question"), "{wallet:?}");
    let altered = format!("{}A", &first[..first.len() - 1]);
    if altered != first {
        assert_eq!(market.trades(APES, &format!("cursor={altered}")).status, 400);
    }
}

#[test]
fn days_are_a_number_from_1_to_365() {
    let market = market();
    for value in ["0", "366", "abc", "-1", "7.5", "1e2", "99999999999999999999"] {
        let answer = market.lowest(APES, &format!("days={value}"));
        let says = format!("days with value '{value}' is not a number of days from 1 to 365");
        assert_eq!((answer.status, answer.message()), (400, says));
    }
    for value in ["1", "365", "007"] {
        assert_eq!(market.lowest(APES, &format!("days={value}")).status, 200, "{value}");
    }
}
