//! The way of a block from JSON to disk, timed stage by stage on one core.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ingest::verify::{Rules, Senders, verify};
use model::chain::ChainTable;
use model::raw::read_receipts;
use model::raw::{Block, read_geth_traces};
use store::{Change, Options, Origin, Store, VerifiedBlock};

use crate::{say, sizes};

/// One block's three answers.
pub struct Raw {
    pub block: String,
    pub receipts: String,
    pub traces: Option<String>,
}

pub async fn run(node: &str, count: u64, traces: bool) -> Result<()> {
    let raws = fetch(node, count, traces).await?;
    let table = ChainTable::builtin()?;
    let chain = table.find("eth").context("eth")?;
    let rules =
        Rules { verification: chain.verification, chain_id: chain.id.0, senders: Senders::Sample };
    let folder = tempfile::tempdir()?;
    let store = Store::open(&Options::new(folder.path()), |_| {}).await?;
    let decoder = decode::Decoder::new(chain);
    let mut spent = [Duration::ZERO; 5];
    let mut bytes = 0;
    let mut txs = 0;
    for group in raws.chunks(96) {
        let mut prepared = Vec::new();
        for raw in group {
            bytes +=
                raw.block.len() + raw.receipts.len() + raw.traces.as_ref().map_or(0, String::len);
            let start = Instant::now();
            let block = parse(raw)?;
            let parsed = Instant::now();
            txs += block.txs.len();
            let proof = verify(&block, &rules)?;
            let verified = Instant::now();
            let facts = decoder.decode(&block);
            let decoded = Instant::now();
            prepared.push(store.prepare(chain.id, VerifiedBlock { block, proof, facts }));
            let done = Instant::now();
            spent[0] += parsed - start;
            spent[1] += verified - parsed;
            spent[2] += decoded - verified;
            spent[3] += done - decoded;
        }
        let start = Instant::now();
        store.commit(chain.id, Change::apply(Origin::History, prepared)).await?;
        spent[4] += start.elapsed();
    }
    let total: Duration = spent.iter().sum();
    let with = if traces { "with" } else { "without" };
    say(&format!(
        "stages {with} traces: {} blocks, {txs} transactions, {:.1} MB of JSON",
        raws.len(),
        bytes as f64 / 1e6
    ))?;
    for (name, time) in ["parse JSON", "verify (hash)", "decode", "rows", "store"].iter().zip(spent)
    {
        say(&format!(
            "  {name:14} {:7.1} us/tx  {:4.0} %",
            time.as_secs_f64() * 1e6 / txs as f64,
            100.0 * time.as_secs_f64() / total.as_secs_f64()
        ))?;
    }
    say(&format!("  one core: {:.0} tx/s", txs as f64 / total.as_secs_f64()))?;
    sizes::run(&raws, txs)
}

pub fn parse(raw: &Raw) -> Result<Block> {
    let mut block = Block::read(raw.block.as_bytes())?.context("null block")?;
    block.set_receipts(read_receipts(raw.receipts.as_bytes())?)?;
    if let Some(traces) = &raw.traces {
        block.traces = Some(read_geth_traces(traces, block.txs.len())?);
    }
    Ok(block)
}

async fn fetch(node: &str, count: u64, traces: bool) -> Result<Vec<Raw>> {
    let client = reqwest::Client::new();
    let mut raws = Vec::new();
    for number in (1..=count).rev() {
        let block =
            call(&client, node, "eth_getBlockByNumber", &format!("[\"{number:#x}\",true]")).await?;
        let receipts =
            call(&client, node, "eth_getBlockReceipts", &format!("[\"{number:#x}\"]")).await?;
        let traces = match traces {
            true => Some(
                call(
                    &client,
                    node,
                    "debug_traceBlockByNumber",
                    &format!("[\"{number:#x}\",{{\"tracer\":\"callTracer\"}}]"),
                )
                .await?,
            ),
            false => None,
        };
        raws.push(Raw { block, receipts, traces });
    }
    Ok(raws)
}

async fn call(client: &reqwest::Client, node: &str, method: &str, params: &str) -> Result<String> {
    let body =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}");
    let request = client.post(node).header("content-type", "application/json").body(body);
    let text = request.send().await?.text().await?;
    let start = text.find("\"result\":").context("no result")? + 9;
    Ok(text.get(start..text.len() - 1).context("short answer")?.trim_end().to_owned())
}
