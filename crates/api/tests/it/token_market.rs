//! A small Ethereum of our own making: blocks whose logs are those of exchanges, decoded and stored as
//! ingest does it, and a server over them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, I256, U256, keccak256};
use api::{Parts, ServedChain, TokenLists};
use decode::Decoder;
use model::chain::{Chain, ChainId, ChainTable};
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header, Log, Receipt};
use rpc::{Pool, PoolConfig, PoolOptions, UpstreamConfig};
use serde_json::Value;
use store::{Change, Decoded, Options, Origin, Store, VerifiedBlock};

use crate::test_server::{Answer, TestServer, assembled, block_on, open};

pub const ETH: ChainId = ChainId(1);
pub const FIRST: u64 = 1_000;
pub const START: u64 = 1_700_000_000;
pub const BLOCK_S: u64 = 12;
pub const E18: u128 = 1_000_000_000_000_000_000;
pub const E6: u128 = 1_000_000;

pub struct TokenMarket {
    pub server: TestServer,
    pub store: Store,
    pub chain: Chain,
    decoder: Decoder,
    /// Number, hash and time of the newest block and those before.
    blocks: Vec<(u64, B256, u64)>,
    branch: u8,
}

/// How a market differs from the plain one.
#[derive(Default)]
pub struct Setup {
    pub node: Option<String>,
    /// The text of a token list.
    pub list: Option<String>,
    pub first: Option<u64>,
    pub runtime: Option<tokio::runtime::Runtime>,
}

impl TokenMarket {
    pub fn new() -> Self {
        TokenMarket::with(Setup::default())
    }

    pub fn with(setup: Setup) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { durable: false, ..Options::new(folder.path().join("store")) };
        let store = open(&options);
        let table = ChainTable::builtin().unwrap();
        let chain = table.find("eth").unwrap().clone();
        let runtime = setup.runtime.unwrap_or_else(|| tokio::runtime::Runtime::new().unwrap());
        let pool = setup.node.map(|url| runtime.block_on(async { node_pool(&url) }));
        let served = |name: &str, pool| {
            let chain = Arc::new(table.find(name).unwrap().clone());
            ServedChain { chain, pool, ingest: None, redecode: None, audit: None }
        };
        let chains = vec![served("eth", pool), served("linea", None), served("sepolia", None)];
        let lists = setup.list.map(|text| {
            let path = folder.path().join("list.json");
            std::fs::write(&path, text).unwrap();
            TokenLists::read(&[path]).unwrap()
        });
        let parts = Parts {
            token_lists: lists.unwrap_or_default(),
            ..assembled(store.clone(), folder.path(), table, chains)
        };
        let first = setup.first.unwrap_or(FIRST);
        TokenMarket {
            server: TestServer::serve(runtime, folder, parts),
            store,
            decoder: Decoder::new(&chain),
            chain,
            blocks: vec![(first - 1, B256::repeat_byte(7), START - BLOCK_S)],
            branch: 0,
        }
    }

    /// The next block, with these logs in one transaction. Its number.
    pub fn block(&mut self, logs: Vec<Log>) -> u64 {
        self.block_after(BLOCK_S, logs)
    }

    pub fn block_after(&mut self, seconds: u64, logs: Vec<Log>) -> u64 {
        let (number, parent, time) = *self.blocks.last().unwrap();
        let (number, timestamp) = (number + 1, time + seconds);
        let hash = keccak256([number.to_be_bytes().as_slice(), &[self.branch]].concat());
        self.commit(Origin::Head, block(number, [hash, parent], timestamp), logs);
        self.blocks.push((number, hash, timestamp));
        number
    }

    /// The block below the oldest, as history brings it.
    pub fn block_below(&mut self, logs: Vec<Log>) {
        let (number, hash, time) = self.blocks[0];
        self.commit(Origin::History, block(number, [hash, B256::repeat_byte(6)], time), logs);
    }

    fn commit(&self, origin: Origin, block: Block, logs: Vec<Log>) {
        let facts = self.facts(&block, logs);
        let verified = VerifiedBlock { block, proof: Proof::default(), facts };
        let apply = vec![self.store.prepare(ETH, verified)];
        block_on(self.store.commit(ETH, Change::apply(origin, apply))).unwrap();
    }

    /// The store need not keep transactions that there are none of: what logs say is in the facts.
    fn facts(&self, block: &Block, mut logs: Vec<Log>) -> Facts {
        for (n, log) in logs.iter_mut().enumerate() {
            log.log_index = Some(n as u64);
        }
        let receipts = vec![Some(Receipt { logs: Some(logs), ..Receipt::default() })];
        self.decoder.decode(&Block { receipts, ..block.clone() })
    }

    /// Decodes all blocks anew, as if the newest had had these logs and the others none.
    pub fn redecode(&self, logs: Vec<Log>) {
        let (number, hash, time) = *self.blocks.last().unwrap();
        let facts = self.facts(&block(number, [hash, B256::ZERO], time), logs);
        block_on(async {
            let started = self.store.rebuild_facts(ETH, B256::repeat_byte(3), &|| false).await;
            let rebuild = started.unwrap().unwrap();
            rebuild.write(vec![Decoded { number, hash, facts }], FIRST).await.unwrap();
            rebuild.finish(&|| false).await.unwrap();
        });
    }

    pub fn revert(&mut self) {
        let (number, ..) = self.blocks.pop().unwrap();
        self.branch += 1;
        block_on(self.store.commit(ETH, Change::revert(Origin::Head, vec![number]))).unwrap();
    }

    /// Leaves out blocks, as where history is not filled yet.
    pub fn skip(&mut self, blocks: u64) {
        let (number, _, time) = *self.blocks.last().unwrap();
        let next = (number + blocks, B256::repeat_byte(9), time + blocks * BLOCK_S);
        self.blocks.push(next);
    }

    pub fn ask(&self, token: Address, query: &str) -> Answer {
        self.server.get(&format!("/api/v2.2/erc20/{token:#x}/price?chain=eth&{query}"))
    }

    /// What must be answered with 200.
    pub fn price(&self, token: Address, query: &str) -> Value {
        let answer = self.ask(token, query);
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    pub fn usd(&self, token: Address, query: &str) -> String {
        self.price(token, query)["usdPriceFormatted"].as_str().unwrap().to_owned()
    }

    pub fn refused(&self, token: Address, query: &str) -> (u16, String) {
        let answer = self.ask(token, query);
        (answer.status, answer.message())
    }

    pub fn wrapped(&self) -> Address {
        self.chain.wrapped.as_ref().unwrap().address
    }

    pub fn stable(&self, symbol: &str) -> Address {
        self.chain.stables.iter().find(|it| it.symbol == symbol).unwrap().address
    }

    pub fn factory(&self, name: &str) -> Address {
        self.chain.exchanges.iter().find(|it| it.name == name).unwrap().factory
    }

    /// The creation of a pair and what it holds then.
    pub fn pair(
        &self,
        exchange: &str,
        first: (Address, u128),
        second: (Address, u128),
    ) -> Vec<Log> {
        created(self.factory(exchange), pair_of(exchange, first.0, second.0), first, second)
    }

    /// The coin at 2000 dollars, deep enough for anything: with two stables that agree.
    pub fn coin(&self) -> Vec<Log> {
        let coin = self.wrapped();
        [
            self.pair("Uniswap v2", (coin, 10_000 * E18), (self.stable("USDC"), 20_000_000 * E6)),
            self.pair("SushiSwap v2", (coin, 4_000 * E18), (self.stable("DAI"), 8_000_000 * E18)),
        ]
        .concat()
    }
}

fn block(number: u64, [hash, parent_hash]: [B256; 2], timestamp: u64) -> Block {
    let header = Header {
        number: Some(number),
        hash: Some(hash),
        parent_hash: Some(parent_hash),
        timestamp: Some(timestamp),
        ..Header::default()
    };
    Block { number, hash, parent_hash, timestamp, header, ..Block::default() }
}

fn node_pool(url: &str) -> Arc<Pool> {
    let options = PoolOptions {
        chain_id: 1,
        chain_label: "eth".into(),
        upstreams: vec![UpstreamConfig::from_url(url)],
        config: PoolConfig::default(),
        poll_interval: std::time::Duration::from_millis(200),
    };
    Pool::start(options).unwrap()
}

/// An address that no other text gives.
pub fn addr(text: &str) -> Address {
    Address::from_word(keccak256(text))
}

pub fn pair_of(exchange: &str, one: Address, other: Address) -> Address {
    addr(&format!("{exchange} {} {}", one.min(other), one.max(other)))
}

pub fn word(value: u128) -> B256 {
    U256::from(value).into()
}

pub fn signed(value: i128) -> B256 {
    I256::try_from(value).unwrap().into_raw().into()
}

pub fn log(address: Address, signature: &str, topics: &[B256], data: &[B256]) -> Log {
    let mut all = vec![keccak256(signature)];
    all.extend_from_slice(topics);
    Log {
        address: Some(address),
        topics: Some(all),
        data: Some(data.iter().flat_map(|it| it.0).collect::<Vec<u8>>().into()),
        ..Log::default()
    }
}

pub fn created(
    factory: Address,
    pair: Address,
    first: (Address, u128),
    second: (Address, u128),
) -> Vec<Log> {
    let (low, high) = if first.0 < second.0 { (first, second) } else { (second, first) };
    let ends = [low.0.into_word(), high.0.into_word()];
    let created = log(
        factory,
        "PairCreated(address,address,address,uint256)",
        &ends,
        &[pair.into_word(), word(1)],
    );
    vec![created, sync(pair, first, second)]
}

/// The pair holds this much of each now, whichever comes first.
pub fn sync(pair: Address, first: (Address, u128), second: (Address, u128)) -> Log {
    let (low, high) = if first.0 < second.0 { (first, second) } else { (second, first) };
    log(pair, "Sync(uint112,uint112)", &[], &[word(low.1), word(high.1)])
}

/// A v3 pool with this root of the price (times 2^96) and liquidity.
pub fn ranged(
    factory: Address,
    (one, other): (Address, Address),
    (root, liquidity): (U256, u128),
) -> Vec<Log> {
    let (low, high) = (one.min(other), one.max(other));
    let pool = addr(&format!("v3 {low} {high}"));
    let tokens = [low.into_word(), high.into_word(), word(500)];
    let ends = [addr("sender").into_word(), addr("receiver").into_word()];
    vec![
        log(
            factory,
            "PoolCreated(address,address,uint24,int24,address)",
            &tokens,
            &[signed(10), pool.into_word()],
        ),
        log(pool, "Initialize(uint160,int24)", &[], &[root.into(), signed(0)]),
        log(
            pool,
            "Swap(address,address,int256,int256,uint160,uint128,int24)",
            &ends,
            &[signed(5), signed(-5), root.into(), word(liquidity), signed(0)],
        ),
    ]
}

/// A v4 pool, its number first.
pub fn v4(
    manager: Address,
    (one, other): (Address, Address),
    hooks: Address,
    (root, liquidity): (U256, u128),
) -> (B256, Vec<Log>) {
    let (low, high) = (one.min(other), one.max(other));
    let key = [low.into_word(), high.into_word(), word(3000), signed(60), hooks.into_word()];
    let id = keccak256(key.iter().flat_map(|it| it.0).collect::<Vec<u8>>());
    let initialize = log(
        manager,
        "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
        &[id, low.into_word(), high.into_word()],
        &[word(3000), signed(60), hooks.into_word(), root.into(), signed(0)],
    );
    let swap = log(
        manager,
        "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        &[id, addr("sender").into_word()],
        &[signed(-5), signed(5), root.into(), word(liquidity), signed(0), word(3000)],
    );
    (id, vec![initialize, swap])
}

/// A token list that gives decimals to tokens of no chain.
pub fn list(tokens: &[(&str, u8)]) -> String {
    let tokens: Vec<Value> = tokens
        .iter()
        .map(|(name, decimals)| {
            serde_json::json!({
                "chainId": 1, "address": format!("{:#x}", addr(name)), "name": format!("{name} token"),
                "symbol": name, "decimals": decimals, "logoURI": format!("https://logos.example/{name}.png"),
            })
        })
        .collect();
    serde_json::json!({ "name": "ours", "tokens": tokens }).to_string()
}
