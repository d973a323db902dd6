//! What the store does not know, from a node: names of tokens, hostile ones among them, and pools
//! outside of what is indexed.

use alloy_primitives::Address;
use serde_json::json;

use crate::fake_node::*;
use crate::test_server::{Answer, KEY, send};
use crate::token_market::*;

const GET_PAIR: [u8; 4] = [0xe6, 0xa4, 0x39, 0x05];
const GET_POOL: [u8; 4] = [0x16, 0x98, 0xee, 0x82];
const GET_RESERVES: [u8; 4] = [0x09, 0x02, 0xf1, 0xac];
const SLOT0: [u8; 4] = [0x38, 0x50, 0xc7, 0xbd];
const LIQUIDITY: [u8; 4] = [0x1a, 0x68, 0x65, 0x02];
const TICK_SPACING: [u8; 4] = [0xd0, 0xc9, 0x3a, 0x7c];

fn with_node(world: World) -> (TokenMarket, FakeNode) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let node = FakeNode::start(&runtime, World { head: 2_000, ..world });
    let setup = Setup { node: Some(node.url.clone()), runtime: Some(runtime), ..Setup::default() };
    let mut market = TokenMarket::with(setup);
    market.block(market.coin());
    (market, node)
}

/// What a token answers to name, symbol and decimals, and what is shown of it.
type Named = (&'static str, Said, Said, Said, [Option<&'static str>; 3]);

fn bytes32(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    out.resize(32, 0);
    out
}

#[test]
fn names_of_every_kind_are_shown_harmlessly_with_and_without_multicall() {
    for has_multicall in [true, false] {
        let (mut market, node) = with_node(World { has_multicall, ..World::default() });
        let usdc = market.stable("USDC");
        let plain = |n: usize| Ok(words(&[n]));
        let cases: [Named; 8] = [
            (
                "plain",
                Ok(string(b"Plain Coin")),
                Ok(string(b"PLN")),
                plain(6),
                [Some("Plain Coin"), Some("PLN"), Some("6")],
            ),
            (
                "bytes32",
                Ok(bytes32(b"Maker")),
                Ok(bytes32(b"MKR")),
                plain(18),
                [Some("Maker"), Some("MKR"), Some("18")],
            ),
            ("silent", Err("no name"), Err("no symbol"), plain(18), [None, None, Some("18")]),
            (
                "loud",
                Ok(string(&[b'x'; 60_000])),
                Ok(string(b"\x1b[31mRED\x07")),
                plain(8),
                [Some(X96), Some("[31mRED"), Some("8")],
            ),
            (
                "turned",
                Ok(string("\u{202e}CDSU".as_bytes())),
                Ok(string(&[0xff, 0xfe, b'A'])),
                plain(0),
                [Some("CDSU"), Some("A"), Some("0")],
            ),
            (
                "endless",
                Ok(words(&[32, usize::MAX])),
                Ok(words(&[usize::MAX])),
                plain(77),
                [None, None, Some("77")],
            ),
            ("empty", Ok(Vec::new()), Ok(words(&[32, 0])), plain(2), [None, None, Some("2")]),
            (
                "odd",
                Ok(vec![1, 2, 3]),
                Ok(string(b"  O  ")),
                plain(100),
                [None, Some("O"), Some("100")],
            ),
        ];
        for (id, name, symbol, decimals, [tells_name, tells_symbol, tells_decimals]) in cases {
            let address = addr(id);
            node.change(|world| token(world, address, name, symbol, decimals));
            market.block(market.pair(
                "Uniswap v2",
                (address, 10u128.pow(30)),
                (usdc, 1_000_000 * E6),
            ));
            let answer = market.price(address, "");
            assert_eq!(answer["tokenName"], json!(tells_name), "{id}");
            assert_eq!(answer["tokenSymbol"], json!(tells_symbol), "{id}");
            assert_eq!(answer["tokenDecimals"], json!(tells_decimals), "{id}");
        }
        // Learned once: the next block changes the price, not the name.
        let before = node.calls();
        market.block(Vec::new());
        assert_eq!(market.price(addr("plain"), "")["tokenSymbol"], "PLN");
        assert_eq!(node.calls(), before);
    }
}

const X96: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

#[test]
fn what_is_no_token_is_told_apart_from_a_token_that_does_not_count() {
    let (mut market, node) = with_node(World { has_multicall: true, ..World::default() });
    let usdc = market.stable("USDC");
    let (status, message) = market.refused(addr("nobody"), "");
    assert_eq!(status, 404);
    assert!(message.contains("is not a token on eth"), "{message}");
    let asked = node.calls();
    assert_eq!(market.refused(addr("nobody"), "").0, 404);
    assert_eq!(node.calls(), asked, "it is not asked again at once");
    for (id, decimals) in
        [("huge", Ok(vec![0xff; 32])), ("short", Ok(vec![18])), ("refuses", Err("none"))]
    {
        node.change(|world| token(world, addr(id), Ok(string(b"T")), Ok(string(b"T")), decimals));
        market.block(market.pair("Uniswap v2", (addr(id), 10u128.pow(24)), (usdc, 1_000_000 * E6)));
        let (status, message) = market.refused(addr(id), "");
        assert_eq!(status, 404, "{message}");
        assert!(message.contains("are not known: its contract does not tell them"), "{message}");
    }
}

#[test]
fn nonsense_from_a_node_is_no_answer_and_no_panic() {
    let (mut market, node) = with_node(World { has_multicall: true, ..World::default() });
    let usdc = market.stable("USDC");
    let nonsense = [
        json!(null),
        json!(7),
        json!({}),
        json!("zz"),
        json!("0x123"),
        json!("0x"),
        json!(["0x"]),
        json!("0x00".to_owned() + &"ff".repeat(999)),
    ];
    for (n, instead) in nonsense.into_iter().enumerate() {
        let id = format!("nonsense {n}");
        node.change(|world| world.instead = Some(instead));
        market.block(market.pair(
            "Uniswap v2",
            (addr(&id), 10u128.pow(24)),
            (usdc, 1_000_000 * E6),
        ));
        let (status, message) = market.refused(addr(&id), "");
        assert!(matches!(status, 404 | 503), "{status} {message}");
        assert_eq!(market.usd(usdc, ""), "1", "money needs no node");
    }
}

/// Factories and pools as a node tells of them: the coin at 3000 dollars, the token at 1/6 of a coin.
fn exchanges(market: &TokenMarket, world: &mut World, tkn: Address) {
    let (coin, usdc) = (market.wrapped(), market.stable("USDC"));
    let pair = |one: Address, other: Address| [one.min(other), one.max(other)];
    let reserves = |one: (Address, u128), other: (Address, u128)| {
        let (low, high) = if one.0 < other.0 { (one.1, other.1) } else { (other.1, one.1) };
        let words = [low, high, 0].map(word);
        words.iter().flat_map(|it| it.0).collect::<Vec<u8>>()
    };
    let v2 = market.factory("Uniswap v2");
    for (name, one, other) in [
        ("node coin", (coin, 9_000 * E18), (usdc, 27_000_000 * E6)),
        ("node token", (tkn, 6_000 * E18), (coin, 1_000 * E18)),
    ] {
        let address = addr(name).into_word().to_vec();
        world.say(v2, &call_data(GET_PAIR, &pair(one.0, other.0), &[]), Ok(address));
        world.say(addr(name), &GET_RESERVES, Ok(reserves(one, other)));
    }
    world.say(v2, &GET_PAIR, Ok(words(&[0])));
    world.say(market.factory("Uniswap v3"), &GET_POOL, Err("no such tier"));
}

#[test]
fn a_block_that_is_not_indexed_is_asked_of_the_node() {
    let (market, node) = with_node(World { has_multicall: true, ..World::default() });
    let tkn = addr("TKN");
    node.change(|world| {
        token(world, tkn, Ok(string(b"Token")), Ok(string(b"TKN")), Ok(words(&[18])));
        exchanges(&market, world, tkn);
    });
    let past = format!("to_block={}", FIRST - 500);
    let answer = market.price(tkn, &format!("{past}&explain=true"));
    assert_eq!(answer["usdPriceFormatted"], "500");
    assert!(answer["nativePrice"]["value"].as_str().unwrap().starts_with("1666666666666666"));
    assert_eq!(answer["explain"]["source"], "node");
    assert_eq!(answer["explain"]["pool"], format!("{:#x}", addr("node token")));
    let (mine, coins) = ((6_000 * E18).to_string(), (1_000 * E18).to_string());
    let held = match tkn < market.wrapped() {
        true => json!({ "reserve0": mine, "reserve1": coins }),
        false => json!({ "reserve0": coins, "reserve1": mine }),
    };
    assert_eq!(answer["explain"]["pools"][0]["state"], held);
    assert_eq!(
        answer["explain"]["pools"][0]["changedAtBlock"],
        json!(null),
        "a node does not say when it was"
    );
    let asked = node.calls();
    assert_eq!(market.usd(tkn, &past), "500");
    assert_eq!(node.calls(), asked, "kept by block");
    assert!(market.ask(tkn, &past).head.contains("x-coverage: partial"));
    assert_eq!(market.usd(market.wrapped(), &past), "3000");
    assert_eq!(
        market.usd(market.wrapped(), ""),
        "2000",
        "indexed pools are taken where there are any"
    );
    // At an indexed block only what the store lacks is asked.
    assert_eq!(market.usd(tkn, "exchange=uniswapv2"), "333.33333333333333333");
}

#[test]
fn v3_pools_are_found_by_their_fee() {
    let (market, node) = with_node(World { has_multicall: true, ..World::default() });
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let [low, high] = [tkn.min(usdc), tkn.max(usdc)];
    node.change(|world| {
        token(world, tkn, Ok(string(b"Token")), Ok(string(b"TKN")), Ok(words(&[6])));
        let pool = addr("node v3");
        let found = Ok(pool.into_word().to_vec());
        world.say(market.factory("Uniswap v3"), &call_data(GET_POOL, &[low, high], &[500]), found);
        let root = alloy_primitives::U256::from(1) << 96usize;
        // A price a hair below one to one can stand at tick -1, which fills all of its word.
        let slot = [root.to_be_bytes::<32>().to_vec(), signed(-1).to_vec(), words(&[0; 5])];
        world.say(pool, &SLOT0, Ok(slot.concat()));
        world.say(pool, &LIQUIDITY, Ok(words(&[10usize.pow(15)])));
        world.say(pool, &TICK_SPACING, Ok(words(&[10])));
    });
    let answer = market.price(tkn, "");
    assert_eq!(
        (&answer["usdPriceFormatted"], &answer["exchangeName"]),
        (&"1".into(), &"Uniswap v3".into())
    );
    let explained = market.price(tkn, "explain=true")["explain"].clone();
    assert_eq!(
        explained["pools"][0]["state"],
        json!({
            "sqrtPriceX96": "79228162514264337593543950336", "tick": -1,
            "liquidity": "1000000000000000"
        })
    );
}

#[test]
fn a_node_without_old_state_is_named_together_with_what_is_indexed() {
    let world = World { has_multicall: true, oldest_state: FIRST, ..World::default() };
    let (market, node) = with_node(world);
    let tkn = addr("TKN");
    node.change(|world| {
        token(world, tkn, Ok(string(b"Token")), Ok(string(b"TKN")), Ok(words(&[18])));
        exchanges(&market, world, tkn);
    });
    let (status, message) = market.refused(tkn, &format!("to_block={}", FIRST - 1));
    assert_eq!(status, 404);
    assert!(message.contains("indexed blocks of eth: 1000-1000"), "{message}");
    assert!(message.contains("no node of the chain holds the state"), "{message}");
    assert_eq!(market.usd(tkn, ""), "333.33333333333333333");
}

/// Asks for the price while the chain changes under it: the node is asked, and before it answers, `change`
/// happens.
fn price_while(
    market: &mut TokenMarket,
    node: &FakeNode,
    token: Address,
    change: impl FnOnce(&mut TokenMarket),
) -> Answer {
    let (came, comes) = std::sync::mpsc::channel();
    let (go, go_on) = tokio::sync::oneshot::channel();
    node.change(|world| world.gate = Some(Gate { came, go_on }));
    let address = market.server.address;
    let head =
        format!("GET /api/v2.2/erc20/{token:#x}/price?chain=eth HTTP/1.1\r\nx-api-key: {KEY}\r\n");
    let request = std::thread::spawn(move || send(address, &head, b""));
    comes.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    change(market);
    go.send(()).unwrap();
    request.join().unwrap()
}

#[test]
fn the_store_moves_on_while_a_node_is_asked() {
    let (mut market, node) = with_node(World { has_multicall: true, ..World::default() });
    let usdc = market.stable("USDC");
    for id in ["ONE", "TWO"] {
        node.change(|world| {
            token(world, addr(id), Ok(string(b"Token")), Ok(string(b"T")), Ok(words(&[18])));
        });
    }
    let pair = |market: &TokenMarket, id: &str, dollars: u128| {
        market.pair("Uniswap v2", (addr(id), 1_000_000 * E18), (usdc, dollars * 1_000_000 * E6))
    };
    // The block of the price is replaced: the price is that of the block in its place.
    market.block(pair(&market, "ONE", 2));
    let answer = price_while(&mut market, &node, addr("ONE"), |market| {
        market.revert();
        market.block(pair(market, "ONE", 5));
    });
    assert_eq!(answer.json()["usdPriceFormatted"], "5", "{answer:?}");
    assert_eq!(market.usd(addr("ONE"), ""), "5");
    // Another block comes: the price is still that of the block it was asked for, and the next request
    // is not given the same again.
    let block = market.block(pair(&market, "TWO", 3));
    let answer = price_while(&mut market, &node, addr("TWO"), |market| {
        let state = sync(
            pair_of("Uniswap v2", addr("TWO"), usdc),
            (addr("TWO"), 1_000_000 * E18),
            (usdc, 4_000_000 * E6),
        );
        market.block(vec![state]);
    });
    let json = answer.json();
    assert_eq!(
        (&json["usdPriceFormatted"], &json["toBlock"]),
        (&"3".into(), &block.to_string().into())
    );
    assert_eq!(market.usd(addr("TWO"), ""), "4");
}
