//! Blocks as a node's JSON, for benchmarks that read the same blocks again and again.

use anyhow::{Context, Result};
use model::raw::{Block, BlockTraces, read_receipts};

/// One block's three answers.
pub struct RawBlock {
    pub block: String,
    pub receipts: String,
    pub traces: Option<String>,
}

impl RawBlock {
    pub fn bytes(&self) -> usize {
        self.block.len() + self.receipts.len() + self.traces.as_ref().map_or(0, String::len)
    }
}

pub fn parse(raw: &RawBlock) -> Result<Block> {
    let mut block = Block::read(raw.block.as_bytes())?.context("null block")?;
    block.set_receipts(read_receipts(raw.receipts.as_bytes())?)?;
    if let Some(traces) = &raw.traces {
        block.set_traces(Some(BlockTraces::read_call_tracer(traces, &block.txs)?));
    }
    Ok(block)
}

pub async fn fetch(node: &str, count: u64, traces: bool) -> Result<Vec<RawBlock>> {
    let client = reqwest::Client::new();
    let mut raws = Vec::new();
    for number in (1..=count).rev() {
        let block =
            call(&client, node, "eth_getBlockByNumber", &format!("[\"{number:#x}\",true]")).await?;
        let receipts =
            call(&client, node, "eth_getBlockReceipts", &format!("[\"{number:#x}\"]")).await?;
        let traces = if traces {
            let params = format!("[\"{number:#x}\",{{\"tracer\":\"callTracer\"}}]");
            Some(call(&client, node, "debug_traceBlockByNumber", &params).await?)
        } else {
            None
        };
        raws.push(RawBlock { block, receipts, traces });
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
