//! (h) The price of tokens with 1, 10 and 1,000 pools: the newest one against a bare server that sends
//! the same bytes, and what one costs when nothing is kept, now and at older blocks.

use std::path::Path;
use std::time::{Duration, Instant};

use alloy_primitives::{Address, B256, U256, keccak256};
use anyhow::{Context, Result};
use model::chain::{Chain, ChainId, ChainTable, ExchangeKind};
use model::facts::{Change, Facts, Pool, PoolChange, PoolFacts, PoolId, PoolState};
use model::proof::Proof;
use model::raw::{Block, Header};
use model::token::Token;
use store::{Options, Origin, Store, VerifiedBlock};

use crate::pages::Bare;
use crate::process::{KEY, serve};
use crate::{load, say};

const CHAIN: ChainId = ChainId(1);
const BLOCKS: u64 = 20_000;
/// Every so many blocks a pool changes.
const CHANGES_EVERY: u64 = 200;
const SIZES: [u64; 3] = [1, 10, 1_000];
const CONNECTIONS: usize = 16;
const LASTS: Duration = Duration::from_secs(3);
const ROUNDS: usize = 3;
const QUESTIONS: u64 = 300;

pub async fn run(headwater: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    build(folder.path()).await?;
    let took = start.elapsed().as_secs_f64();
    say(&format!("made a store of {BLOCKS} blocks with 1,019 pools in {took:.0} s"))?;
    say("(h) token price, requests/s, best of alternated runs")?;
    let server = serve(headwater, folder.path(), &[], &[]).await?;
    for pools in SIZES {
        against_bare(&server.url, pools).await?;
    }
    server.process.stop()?;
    say("    one request at a time, median, nothing cached")?;
    let kept = [("HEADWATER__API__ANSWER_CACHE_BYTES", "0")];
    for (name, when) in
        [("newest", When::Newest), ("a day", When::OneDay), ("any block", When::Any)]
    {
        let server = serve(headwater, folder.path(), &[], &kept).await?;
        let mut medians = Vec::new();
        for pools in SIZES {
            medians.push(median(&server.url, pools, when).await?);
        }
        server.process.stop()?;
        let [one, ten, thousand] = medians.as_slice() else { continue };
        say(&format!(
            "  {name:10} 1 pool {one:6.0} us   10 pools {ten:6.0} us ({:4.2} x)   1000 pools {thousand:6.0} us ({:4.2} x)",
            ten / one,
            thousand / one
        ))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum When {
    Newest,
    /// Blocks one after the other, as a chart asks.
    OneDay,
    /// Blocks all over history, each asked once.
    Any,
}

fn token(pools: u64) -> Address {
    Address::from_word(keccak256(format!("a token with {pools} pools")))
}

fn path(pools: u64, more: &str) -> String {
    format!("/api/v2.2/erc20/{:#x}/price?chain=eth{more}", token(pools))
}

async fn get(client: &reqwest::Client, url: &str) -> Result<bytes::Bytes> {
    let answer = client.get(url).header("x-api-key", KEY).send().await?;
    let (status, body) = (answer.status(), answer.bytes().await?);
    anyhow::ensure!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&body));
    Ok(body)
}

async fn against_bare(url: &str, pools: u64) -> Result<()> {
    let path = path(pools, "");
    let body = get(&reqwest::Client::new(), &format!("{url}{path}")).await?;
    let bare = Bare::start(&body).await?;
    let address = url.trim_start_matches("http://");
    let headers = format!("x-api-key: {KEY}\r\n");
    let (mut ours, mut theirs) = (0f64, 0f64);
    for _ in 0..ROUNDS {
        let run = load::run(address, &path, &headers, CONNECTIONS, LASTS).await?;
        ours = ours.max(run.requests_per_s);
        let run = load::run(&bare.address, "/", "", CONNECTIONS, LASTS).await?;
        theirs = theirs.max(run.requests_per_s);
    }
    say(&format!(
        "  {pools:4} pools ({} bytes)  {ours:8.0}/s   bare {theirs:8.0}/s   {:4.0} %",
        body.len(),
        100.0 * ours / theirs
    ))
}

async fn median(url: &str, pools: u64, when: When) -> Result<f64> {
    let client = reqwest::Client::new();
    let mut times = Vec::new();
    for n in 0..QUESTIONS {
        let block = match when {
            When::Newest => None,
            When::OneDay => Some(BLOCKS / 2 + n * 24),
            // A stride that meets no block twice.
            When::Any => Some(BLOCKS / 10 + n * 7_919 % (BLOCKS * 8 / 10)),
        };
        let more = block.map_or(String::new(), |block| format!("&to_block={block}"));
        let url = format!("{url}{}", path(pools, &more));
        let start = Instant::now();
        get(&client, &url).await?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().context("no times")
}

/// Pools of each token with the coin, of which the first is the deepest, and pools of the coin.
async fn build(folder: &Path) -> Result<()> {
    let store = Store::open(&Options { durable: false, ..Options::new(folder) }, |_| {}).await?;
    let table = ChainTable::builtin()?;
    let eth = table.get(CHAIN).context("eth")?;
    let coin = eth.wrapped.as_ref().context("a wrapped coin")?.address;
    let mut pools: Vec<(Pool, PoolState)> = Vec::new();
    for stable in &eth.stables {
        for (n, liquidity) in [(0, 40), (1, 20), (2, 10)] {
            let units = 10u128.pow(stable.decimals.into());
            let held = (
                (coin, liquidity * 1_000 * 10u128.pow(18)),
                (stable.address, liquidity * 2_000_000 * units),
            );
            pools.push(pair(eth, n, held)?);
        }
    }
    for size in SIZES {
        let name = Some(format!("Token of {size}"));
        let about = Token { symbol: name.clone(), name, decimals: Some(18), ..Token::default() };
        store.put_token(CHAIN, token(size), &about).await?;
        for n in 0..size {
            let coins = (1_000 - u128::from(n.min(990))) * 10u128.pow(18);
            pools.push(pair(eth, n, ((token(size), coins * 500), (coin, coins)))?);
        }
    }
    let mut parent = B256::ZERO;
    let mut group = Vec::new();
    for number in 0..BLOCKS {
        let block = block(number, parent);
        parent = block.hash;
        let (proof, facts) = (Proof::default(), facts(number, &pools));
        group.push(store.prepare(CHAIN, VerifiedBlock { block, proof, facts }));
        if group.len() == 256 || number + 1 == BLOCKS {
            let apply = std::mem::take(&mut group);
            store.commit(CHAIN, store::Change::apply(Origin::Import, apply)).await?;
        }
    }
    store.compact().await?;
    Ok(store.flush().await?)
}

type Held = (Address, u128);

/// The n-th pool of two tokens.
fn pair(chain: &Chain, n: u64, (one, other): (Held, Held)) -> Result<(Pool, PoolState)> {
    let factory = chain.exchanges.iter().find(|it| it.kind == ExchangeKind::V2).context("v2")?;
    let (low, high) = if one.0 < other.0 { (one, other) } else { (other, one) };
    let id = keccak256(format!("{n} {} {}", low.0, high.0));
    let pool = Pool {
        id: PoolId::Contract(Address::from_word(id)),
        factory: factory.factory,
        kind: ExchangeKind::V2,
        token0: low.0,
        token1: high.0,
        fee: None,
        tick_spacing: None,
        hooks: Address::ZERO,
        stable: None,
    };
    let (reserve0, reserve1) = (U256::from(low.1), U256::from(high.1));
    Ok((pool, PoolState::Reserves { reserve0, reserve1 }))
}

fn facts(number: u64, pools: &[(Pool, PoolState)]) -> Facts {
    let due = |n: usize| number == 0 || (number + n as u64).is_multiple_of(CHANGES_EVERY);
    let mut changes: Vec<PoolChange> = Vec::new();
    for (n, (pool, state)) in pools.iter().enumerate().filter(|(n, _)| due(*n)) {
        changes.push(PoolChange {
            id: pool.id,
            log_index: n as u32,
            change: Change::State(state.clone()),
        });
    }
    changes.sort_by_key(|it| it.id);
    let seen = if number == 0 { pools.iter().map(|it| it.0.clone()).collect() } else { Vec::new() };
    Facts { trades: Vec::new(), pools: PoolFacts { seen, changes } }
}

fn block(number: u64, parent: B256) -> Block {
    let hash = keccak256(number.to_be_bytes());
    let timestamp = 1_700_000_000 + number * 12;
    let header = Header {
        number: Some(number),
        hash: Some(hash),
        parent_hash: Some(parent),
        timestamp: Some(timestamp),
        ..Header::default()
    };
    Block { number, hash, parent_hash: parent, timestamp, header, ..Block::default() }
}
