//! A line for every operation of the interface: how a person asks, and what the server answered just now.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::client::Client;

/// Of an answer that is not as it should be.
const SHOWN_CHARS: usize = 120;

/// What the operations are asked about.
pub struct Subjects {
    pub chain: &'static str,
    pub wallet: String,
    /// It takes part in transactions of others only.
    pub inner: String,
    pub nft: String,
    pub token: String,
    pub block_hash: String,
    pub block_number: u64,
    pub stream: String,
}

struct Operation {
    title: &'static str,
    method: Method,
    path: String,
    body: Option<Value>,
    /// What a good answer says, in a few words.
    short: fn(&Value) -> Option<String>,
}

/// Asks all of them; two lines each.
pub async fn lines(client: &Client, subjects: &Subjects) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for operation in operations(client, subjects) {
        let Operation { title, method, path, body, short } = &operation;
        let (status, answer) = client.ask(method.clone(), path, body.as_ref()).await?;
        let said = if status == 200 { short(&answer) } else { text(&answer, "/message") };
        let said = said.unwrap_or_else(|| answer.to_string().chars().take(SHOWN_CHARS).collect());
        lines.push(format!("{title}: {status}, {said}"));
        lines.push(format!("  {}", operation.curl(client)));
    }
    Ok(lines)
}

impl Operation {
    fn get(title: &'static str, path: String, short: fn(&Value) -> Option<String>) -> Self {
        Operation { title, method: Method::GET, path, body: None, short }
    }

    /// One line for a shell. Nothing in it holds an apostrophe.
    fn curl(&self, client: &Client) -> String {
        let Client { url, key, .. } = client;
        // The node RPC has the key in its path.
        let key = if self.path.contains(key.as_str()) {
            String::new()
        } else {
            format!(" -H 'X-API-Key: {key}'")
        };
        let body = self.body.as_ref().map_or(String::new(), |body| {
            format!(" -X POST -H 'Content-Type: application/json' -d '{body}'")
        });
        format!("curl -s{key}{body} '{url}{}'", self.path)
    }
}

fn operations(client: &Client, subjects: &Subjects) -> Vec<Operation> {
    let Subjects { chain, wallet, inner, nft, token, block_hash, block_number, stream } = subjects;
    let node = format!("/{chain}/{}", client.key);
    let rpc = |title, method: &str, params: Value, short| Operation {
        title,
        method: Method::POST,
        path: node.clone(),
        body: Some(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })),
        short,
    };
    vec![
        Operation::get(
            "1 Transactions of a wallet",
            format!("/api/v2.2/{wallet}?chain={chain}&limit=3"),
            transactions,
        ),
        Operation::get(
            "1 Internal transactions of a wallet",
            format!("/api/v2.2/{inner}?chain={chain}&include=internal_transactions&limit=1"),
            internal_transactions,
        ),
        Operation::get(
            "2 NFT trades",
            format!("/api/v2.2/nft/{nft}/trades?chain={chain}&limit=3"),
            trades,
        ),
        Operation::get(
            "3 Lowest NFT price",
            format!("/api/v2.2/nft/{nft}/lowestprice?chain={chain}&days=7"),
            lowest_price,
        ),
        Operation::get(
            "4 Token price",
            format!("/api/v2.2/erc20/{token}/price?chain={chain}&include=percent_change"),
            token_price,
        ),
        Operation {
            title: "5 Update a stream",
            method: Method::POST,
            path: format!("/streams/evm/{stream}"),
            body: Some(json!({ "description": "the exchange of the demo" })),
            short: updated,
        },
        rpc("6 eth_getBlockByHash", "eth_getBlockByHash", json!([block_hash, false]), block),
        rpc(
            "7 eth_getTransactionByBlockNumberAndIndex",
            "eth_getTransactionByBlockNumberAndIndex",
            json!([format!("{block_number:#x}"), "0x0"]),
            transaction,
        ),
        Operation::get(
            "What the stream delivered to a receiver inside this demo",
            format!("/streams/evm/{stream}/deliveries?from=1&limit=1"),
            delivery,
        ),
    ]
}

fn transactions(answer: &Value) -> Option<String> {
    let (total, block) = (text(answer, "/total")?, answer.pointer("/result/0/block_number")?);
    Some(format!("{total} in all, the newest in block {block}"))
}

fn internal_transactions(answer: &Value) -> Option<String> {
    let total = text(answer, "/total")?;
    let inner = answer.pointer("/result/0/internal_transactions")?.as_array()?.len();
    Some(format!("{total} in all, the newest with {inner} internal ones"))
}

fn trades(answer: &Value) -> Option<String> {
    let ids = answer.pointer("/result/0/token_ids")?.as_array()?.len();
    let many = if ids == 1 { "1 token".to_owned() } else { format!("{ids} tokens") };
    Some(format!("the newest of {many} for {} ETH", coins(&text(answer, "/result/0/price")?)?))
}

fn lowest_price(answer: &Value) -> Option<String> {
    let block = text(answer, "/block_number")?;
    Some(format!("{} ETH in block {block}", coins(&text(answer, "/price")?)?))
}

fn token_price(answer: &Value) -> Option<String> {
    let native = coins(&text(answer, "/nativePrice/value")?)?;
    let [name, usd, exchange] = ["/tokenName", "/usdPriceFormatted", "/exchangeName"]
        .map(|path| text(answer, path).unwrap_or_default());
    let usd: String = usd.chars().take(8).collect();
    let change = text(answer, "/24hrPercentChange").and_then(|it| it.parse::<f64>().ok());
    let change = change.map_or(String::new(), |change| format!(", {change:+.2} % in a day"));
    Some(format!("{name} is worth {usd} USD or {native} ETH on {exchange}{change}"))
}

fn updated(answer: &Value) -> Option<String> {
    let [status, description] = ["/status", "/description"].map(|path| text(answer, path));
    Some(format!("it is {} and called \"{}\"", status?, description?))
}

fn block(answer: &Value) -> Option<String> {
    let number = quantity(answer.pointer("/result/number")?)?;
    let many = answer.pointer("/result/transactions")?.as_array()?.len();
    Some(format!("block {number} with {many} transactions"))
}

fn transaction(answer: &Value) -> Option<String> {
    let number = quantity(answer.pointer("/result/blockNumber")?)?;
    Some(format!("the first of block {number}, sent by {}", text(answer, "/result/from")?))
}

fn delivery(answer: &Value) -> Option<String> {
    let row = answer.pointer("/result/0")?;
    let [number, block] = ["/sequence", "/block"].map(|path| row.pointer(path).map(plain));
    Some(format!("number {} of block {}, {}", number?, block?, text(row, "/status")?))
}

fn text(answer: &Value, path: &str) -> Option<String> {
    Some(answer.pointer(path)?.as_str()?.to_owned())
}

/// A number that may stand as a text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn quantity(value: &Value) -> Option<u128> {
    u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// Wei as coins, to six places.
fn coins(wei: &str) -> Option<String> {
    const MICRO: u128 = 1_000_000_000_000;
    let micros = wei.parse::<u128>().ok()? / MICRO;
    Some(format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000))
}
