//! The table against the interface's own list, and the files against what a file can get wrong.

use std::collections::BTreeSet;

use super::*;

/// The interface's table, linea with the id that behaviour.md gives it; arbitrum sepolia is named for RPC.
const INTERFACE: &[(&str, &str)] = &[
    ("eth", "0x1"),
    ("sepolia", "0xaa36a7"),
    ("holesky", "0x4268"),
    ("polygon", "0x89"),
    ("polygon amoy", "0x13882"),
    ("bsc", "0x38"),
    ("bsc testnet", "0x61"),
    ("avalanche", "0xa86a"),
    ("fantom", "0xfa"),
    ("palm", "0x2a15c308d"),
    ("cronos", "0x19"),
    ("arbitrum", "0xa4b1"),
    ("arbitrum sepolia", "0x66eee"),
    ("gnosis", "0x64"),
    ("gnosis testnet", "0x27d8"),
    ("chiliz", "0x15b38"),
    ("chiliz testnet", "0x15b32"),
    ("base", "0x2105"),
    ("base sepolia", "0x14a34"),
    ("optimism", "0xa"),
    ("optimism sepolia", "0xaa37dc"),
    ("linea", "0xe708"),
    ("linea sepolia", "0xe705"),
    ("moonbeam", "0x504"),
    ("moonriver", "0x505"),
    ("moonbase", "0x507"),
];

const TOKEN_PRICE: &[&str] = &[
    "eth",
    "polygon",
    "bsc",
    "avalanche",
    "fantom",
    "palm",
    "cronos",
    "arbitrum",
    "gnosis",
    "chiliz",
    "base",
    "optimism",
    "linea",
    "moonbeam",
    "moonriver",
    "moonbase",
];

fn table() -> ChainTable {
    ChainTable::builtin().expect("every built-in file is sound")
}

fn id_of(table: &ChainTable, text: &str) -> Option<u64> {
    table.find(text).map(|chain| chain.id.0)
}

fn refusal(result: Result<ChainTable, Error>) -> String {
    result.expect_err("must be refused").to_string()
}

#[test]
fn every_chain_of_the_interface_is_found_by_name_hex_and_decimal() {
    let table = table();
    for (name, hex) in INTERFACE {
        let id = u64::from_str_radix(hex.trim_start_matches("0x"), 16).unwrap();
        let padded = format!("0X00{}", hex[2..].to_uppercase());
        for spelling in [*name, *hex, &id.to_string(), &name.to_uppercase(), &padded] {
            assert_eq!(id_of(&table, spelling), Some(id), "{spelling}");
        }
        for separator in ["-", "_", "  ", " - "] {
            assert_eq!(id_of(&table, &name.replace(' ', separator)), Some(id), "{name}");
        }
        assert_eq!(table.get(ChainId(id)).unwrap().id.hex(), *hex);
    }
}

#[test]
fn rpc_slugs_resolve_with_spaces_and_dashes() {
    let table = table();
    let slugs = [
        ("eth", 1),
        ("holesky", 17_000),
        ("polygon", 137),
        ("amoy", 80_002),
        ("bsc", 56),
        ("bsc testnet", 97),
        ("bsc-testnet", 97),
        ("arbitrum", 42_161),
        ("arbitrum sepolia", 421_614),
        ("arbitrum-sepolia", 421_614),
        ("optimism", 10),
        ("optimism testnet", 11_155_420),
        ("optimism-sepolia", 11_155_420),
        ("base", 8_453),
        ("base sepolia", 84_532),
        ("gnosis-testnet", 10_200),
        ("chiado", 10_200),
    ];
    for (slug, id) in slugs {
        assert_eq!(id_of(&table, slug), Some(id), "{slug}");
    }
    assert!(table.iter().all(|chain| chain.offers(Operation::Rpc)));
}

#[test]
fn anything_else_is_unknown() {
    let table = table();
    let unknown = [
        "",
        " ",
        "0x",
        "x1",
        "0",
        "0x0",
        "2",
        "+1",
        "-1",
        "0x+1",
        "0x-1",
        "1.0",
        "1e0",
        "ethe",
        "e t h",
        "bsctestnet",
        "0xaa36a7g",
        "99999999999999999999999",
        "0x10000000000000001",
        "١",
        "eth\0",
        "-",
        "__",
        "🦀",
    ];
    for text in unknown {
        assert_eq!(id_of(&table, text), None, "{text:?}");
    }
}

#[test]
fn the_token_price_takes_the_printed_linea_id() {
    let table = table();
    let slug = |operation, text| table.find_for(operation, text).map(|it| it.slug.as_str());
    for text in ["0xe705", "0XE705", "0xe708", "59141", "linea"] {
        assert_eq!(slug(Operation::TokenPrice, text), Some("linea"), "{text}");
    }
    assert_eq!(slug(Operation::TokenPrice, "linea sepolia"), Some("linea-sepolia"));
    assert_eq!(slug(Operation::TokenPrice, "nowhere"), None);
    for operation in Operation::ALL.into_iter().filter(|it| *it != Operation::TokenPrice) {
        assert_eq!(slug(operation, "0xe705"), Some("linea-sepolia"));
    }
}

#[test]
fn of_the_interfaces_chains_the_token_price_is_offered_on_its_list_alone() {
    let table = table();
    for (name, _) in INTERFACE {
        let chain = table.find(name).unwrap();
        let priced = TOKEN_PRICE.contains(&chain.slug.as_str());
        assert_eq!(chain.offers(Operation::TokenPrice), priced, "{name}");
        let elsewhere = Operation::ALL.into_iter().filter(|it| *it != Operation::TokenPrice);
        assert!(elsewhere.into_iter().all(|operation| chain.offers(operation)), "{name}");
    }
    let found = TOKEN_PRICE.iter().filter(|slug| table.find(slug).is_some());
    assert_eq!(found.count(), TOKEN_PRICE.len());
}

#[test]
fn a_file_need_not_say_what_may_be_asked_of_its_chain() {
    let plain = "id = 7\nname = 'Seven'\nslug = 'seven'\nnames = []\nverification = 'lenient'\n\
                 confirmations = 1\nblock_time_ms = 1\n";
    let coin = "[native]\nname = 'Gold'\nsymbol = 'AU'\ndecimals = 6";
    let offered = |more: &str| {
        let chain: Chain = toml::from_str(&format!("{plain}{more}\n{coin}")).unwrap();
        chain.offered()
    };
    let but_price: Vec<Operation> =
        Operation::ALL.into_iter().filter(|it| *it != Operation::TokenPrice).collect();
    assert_eq!(offered("testnet = false"), Operation::ALL);
    assert_eq!(offered("testnet = true"), but_price);
    assert_eq!(offered("testnet = true\nalso_offers = ['token_price']"), Operation::ALL);
    assert_eq!(offered("testnet = false\noperations = ['rpc']"), [Operation::Rpc]);
}

#[test]
fn what_a_chain_offers_stays_when_an_operator_calls_it_a_testnet() {
    let change = PrivateChain { testnet: Some(true), ..PrivateChain::new(ChainId(1), "eth") };
    let table = table().with_private(change).unwrap();
    assert_eq!(table.find("eth").unwrap().offered(), Operation::ALL);
}

#[test]
fn confirmations_are_the_live_services() {
    let table = table();
    for (name, _) in INTERFACE {
        let chain = table.find(name).unwrap();
        let expected = match chain.slug.as_str() {
            "eth" => 12,
            "sepolia" | "holesky" | "bsc" | "bsc-testnet" | "arbitrum" => 18,
            "optimism" => 500,
            "arbitrum-sepolia" | "optimism-sepolia" => 600,
            _ => 100,
        };
        assert_eq!(chain.confirmations, expected, "{}", chain.slug);
    }
}

#[test]
fn of_the_interfaces_chains_only_plain_ethereum_is_verified_in_full() {
    let table = table();
    for (name, _) in INTERFACE {
        let chain = table.find(name).unwrap();
        let plain = ["eth", "sepolia", "holesky"].contains(&chain.slug.as_str());
        assert_eq!(chain.verification == Verification::Full, plain, "{}", chain.slug);
    }
}

#[test]
fn every_chain_file_is_registered_under_its_name_and_slug() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../chains");
    let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let registered = builtin::FILES.iter().map(|(slug, _)| format!("{slug}.toml")).collect();
    assert_eq!(on_disk, registered);
    for (slug, text) in builtin::FILES {
        let chain: Chain = toml::from_str(text).unwrap();
        assert_eq!(&chain.slug, slug);
        assert_eq!(&name::normal(slug), slug);
        assert!(chain.block_time_ms > 0);
    }
}

#[test]
fn every_address_is_checksummed() {
    for (slug, text) in builtin::FILES {
        let quoted = text.split('"').filter(|it| it.len() == 42 && it.starts_with("0x"));
        let mut count = 0;
        for address in quoted {
            let parsed: alloy_primitives::Address = address.parse().unwrap();
            assert_eq!(parsed.to_checksum(None), address, "{slug}");
            count += 1;
        }
        assert!(count >= 1, "{slug} has no wrapped coin");
    }
}

#[test]
fn a_mistyped_address_or_field_is_refused() {
    let (_, text) = builtin::FILES.iter().find(|(slug, _)| *slug == "eth").unwrap();
    let address = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
    let reads = |text: &str| toml::from_str::<Chain>(text).is_ok();
    assert!(reads(&text.replace(address, &address.to_lowercase())));
    assert!(!reads(&text.replace(address, "0xc02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")));
    assert!(!reads(&text.replace(address, "0xC02a")));
    assert!(!reads(&text.replace("0x96e8", "96e8")));
    assert!(!reads(&format!("colour = 1\n{text}")));
}

#[test]
fn an_exchange_goes_by_its_names_and_by_its_factory() {
    let table = table();
    let eth = table.find("eth").unwrap();
    for spelling in ["uniswapv2", "uniswap-v2", "Uniswap V2"] {
        assert_eq!(eth.exchange_named(spelling).unwrap().name, "Uniswap v2");
    }
    assert_eq!(eth.exchange_named("pancakeswapv1"), None);
    assert_eq!(eth.exchange_named(""), None);
    let polygon = table.find("polygon").unwrap();
    assert_eq!(polygon.exchange_named("quickswap"), polygon.exchange_named("quickswapv2"));
    assert_eq!(table.find("cronos").unwrap().exchange_named("mm finance").unwrap().names[1], "mm");
    for exchange in table.iter().flat_map(|chain| &chain.exchanges) {
        assert!(exchange.fees.is_empty() || exchange.kind == ExchangeKind::V3, "{}", exchange.name);
        let spaced = exchange.kind == ExchangeKind::SLIPSTREAM;
        assert_eq!(spaced, !exchange.tick_spacings.is_empty(), "{}", exchange.name);
    }
    let pancake = table.find("bsc").unwrap().exchange_named("pancakeswapv3").unwrap();
    assert_ne!(pancake.pool_creator(), pancake.factory);
}

#[test]
fn each_of_the_fifteen_exchange_names_is_on_some_chain() {
    let table = table();
    let names = "uniswapv2,uniswapv3,sushiswapv2,pancakeswapv1,pancakeswapv2,pancakeswapv3,\
                 quickswap,quickswapv2,traderjoe,pangolin,spookyswap,vvs,mm finance,crodex,\
                 camelotv2";
    for name in names.split(',') {
        assert!(table.iter().any(|chain| chain.exchange_named(name).is_some()), "{name}");
    }
}

#[test]
fn exchanges_are_on_the_chains_where_people_look_for_them() {
    let table = table();
    for (chain, names) in [
        ("eth", "uniswapv4,uniswapv3,uniswapv2,sushiswapv2,fraxswap"),
        ("polygon", "uniswapv4,uniswapv3,uniswapv2,quickswapv2,quickswap,mm finance"),
        ("bsc", "uniswapv4,uniswapv3,uniswapv2,pancakeswapv1,pancakeswapv2,pancakeswapv3"),
        ("avalanche", "uniswapv4,traderjoe,pangolin"),
        ("fantom", "spookyswap"),
        ("cronos", "vvs,mm finance,crodex"),
        ("arbitrum", "uniswapv4,uniswapv3,camelotv2,spartadex"),
        ("optimism", "uniswapv4,uniswapv2,sushiswapv2"),
        ("base", "uniswapv4,uniswapv3,uniswapv2,sushiswapv2,sushiswapv3,pancakeswapv2"),
        ("base", "pancakeswapv3,baseswap,aerodrome"),
        ("linea", "pancakeswapv3,nile"),
        ("moonbeam", "beamswap,stellaswap"),
    ] {
        let chain = table.find(chain).unwrap();
        for name in names.split(',') {
            assert!(chain.exchange_named(name).is_some(), "{name} on {}", chain.name);
        }
    }
}

#[test]
fn a_marketplace_is_found_by_contract() {
    let table = table();
    let seaport = "0x00000000000000adc04c56bf30ac9d3c0aaf14dc".parse().unwrap();
    for chain in ["eth", "polygon", "bsc", "arbitrum", "avalanche", "optimism", "base"] {
        let (marketplace, contract) = table.find(chain).unwrap().marketplace_at(seaport).unwrap();
        assert_eq!((marketplace.name.as_str(), contract.version.as_str()), ("opensea", "1.5"));
    }
    assert!(table.find("fantom").unwrap().marketplace_at(seaport).is_none());
}

#[test]
fn an_unbacked_stable_is_a_dollar_only_in_the_past() {
    let table = table();
    let stables = &table.find("fantom").unwrap().stables;
    let backed = |timestamp| stables.iter().filter(|it| it.is_backed_at(timestamp)).count();
    assert_eq!((backed(1_680_000_000), backed(1_700_000_000)), (4, 1));
}

#[test]
fn a_private_chain_needs_an_id_and_a_name_alone() {
    let private: PrivateChain = toml::from_str("id = 0x539\nname = 'My Dev_Chain'").unwrap();
    let table = table().with_private(private).unwrap();
    for spelling in ["my dev chain", "MY-DEV-CHAIN", "0x539", "0x0539", "1337"] {
        assert_eq!(id_of(&table, spelling), Some(1337), "{spelling}");
    }
    let chain = table.get(ChainId(1337)).unwrap();
    assert_eq!(chain.slug, "my-dev-chain");
    assert_eq!((chain.confirmations, chain.block_time_ms, chain.native.decimals), (12, 2_000, 18));
    assert_eq!((chain.native.symbol.as_str(), chain.verification), ("ETH", Verification::Lenient));
    assert!(Operation::ALL.into_iter().all(|operation| chain.offers(operation)));
}

#[test]
fn a_private_chain_may_say_more() {
    let text = "id = 7\nname = 'seven'\nnames = ['sieben']\nconfirmations = 0\n\
                [native]\nname = 'Gold'\nsymbol = 'AU'\ndecimals = 6";
    let table = table().with_private(toml::from_str(text).unwrap()).unwrap();
    let chain = table.find("sieben").unwrap();
    assert_eq!((chain.confirmations, chain.native.decimals), (0, 6));
}

#[test]
fn a_clash_says_with_whom() {
    let add = |id, name: &str| table().with_private(PrivateChain::new(ChainId(id), name));
    assert_eq!(
        refusal(add(137, "mine")),
        "cannot add chain `mine`: id 137 is `polygon` already; choose another id, or the name \
         `polygon` to change its settings"
    );
    assert_eq!(
        refusal(add(7, "Polygon_Amoy")),
        "cannot name chain id 7 `Polygon_Amoy`: that name means `polygon-amoy` already"
    );
    let twice = add(7, "seven").unwrap().with_private(PrivateChain::new(ChainId(7), "other"));
    assert!(refusal(twice).contains("id 7 is `seven` already"));
    let alias = PrivateChain { names: vec!["eth".into()], ..PrivateChain::new(ChainId(7), "a") };
    assert!(refusal(table().with_private(alias)).contains("means `eth` already"));
}

#[test]
fn a_name_that_could_not_be_asked_for_is_refused() {
    for name in ["", " ", "-", "..", "5", "0x5", "a/b", "a?b"] {
        let message = refusal(table().with_private(PrivateChain::new(ChainId(7), name)));
        assert!(message.starts_with("chain id 7 cannot be named"), "{message}");
    }
    assert!(refusal(table().with_private(PrivateChain::new(ChainId(0), "a"))).contains("id 0"));
}

#[test]
fn a_built_in_chains_settings_can_be_changed_under_its_own_name() {
    let change = PrivateChain {
        names: vec!["house".into()],
        confirmations: Some(64),
        ..PrivateChain::new(ChainId(1), "Ethereum")
    };
    let before = table();
    let after = before.clone().with_private(change).unwrap();
    let (old, new) = (before.find("eth").unwrap(), after.find("house").unwrap());
    assert_eq!((new.id, new.confirmations), (old.id, 64));
    assert_eq!((&new.slug, &new.name, &new.stables), (&old.slug, &old.name, &old.stables));
    assert_eq!(after.iter().count(), before.iter().count());
}

#[test]
fn an_id_is_decimal_in_text_and_a_number_in_json() {
    let id = ChainId(0x2a15c308d);
    assert_eq!((id.to_string().as_str(), id.hex().as_str()), ("11297108109", "0x2a15c308d"));
    assert_eq!(serde_json::to_string(&id).unwrap(), "11297108109");
    assert_eq!(serde_json::from_str::<ChainId>("11297108109").unwrap(), id);
}
