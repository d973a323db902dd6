//! A node of a few lines: real blocks of a simulated chain by hash, and a constant for all else.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use testkit::{SimChain, SimConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub struct Node {
    pub address: String,
    pub hashes: Vec<String>,
}

struct Answers {
    by_hash: HashMap<String, String>,
    head: String,
}

impl Node {
    pub async fn start(blocks: usize) -> Result<Self> {
        let mut chain = SimChain::new(SimConfig {
            txs_per_block: 4,
            chain_id: super::CHAIN_ID,
            keep_text: false,
            ..SimConfig::default()
        });
        chain.extend(blocks);
        let mut by_hash = HashMap::with_capacity(blocks);
        let mut hashes = Vec::with_capacity(blocks);
        for block in chain.blocks().iter().skip(1) {
            let hash = block.hash.to_string();
            let text = String::from_utf8(block.block_json(true).to_vec())?;
            by_hash.insert(hash.clone(), text);
            hashes.push(hash);
        }
        let head = by_hash.get(hashes.last().context("no block")?).context("no head")?.clone();
        let answers = Arc::new(Answers { by_hash, head });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answers = answers.clone();
                tokio::spawn(async move {
                    let _ = converse(stream, &answers).await;
                });
            }
        });
        Ok(Node { address, hashes })
    }
}

impl Answers {
    fn answer(&self, body: &str) -> String {
        let after = |name: &str| body.split_once(name).map(|(_, rest)| rest);
        let id = after("\"id\":").and_then(|rest| rest.split([',', '}']).next()).unwrap_or("null");
        let method =
            after("\"method\":\"").and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let result = match method {
            "eth_chainId" => format!("\"{:#x}\"", super::CHAIN_ID),
            "eth_getBlockByHash" => {
                let hash = after("\"params\":[\"").and_then(|rest| rest.split('"').next());
                hash.and_then(|hash| self.by_hash.get(hash)).cloned().unwrap_or("null".into())
            }
            "eth_getBlockByNumber" => self.head.clone(),
            "eth_call" => {
                "\"0x0000000000000000000000000000000000000000000000000000000000000001\"".into()
            }
            _ => "null".into(),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }
}

async fn converse(mut stream: TcpStream, answers: &Answers) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 64 << 10];
    let mut filled = 0;
    loop {
        let text = buffer.get(..filled).context("buffer")?;
        let split = text.windows(4).position(|it| it == b"\r\n\r\n");
        if let Some(split) = split {
            let head =
                std::str::from_utf8(text.get(..split).context("head")?)?.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(Ok(0), |text| text.trim().parse())?;
            let end = split + 4 + length;
            if filled >= end {
                let body = std::str::from_utf8(text.get(split + 4..end).context("body")?)?;
                let answer = answers.answer(body);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
                    answer.len()
                );
                stream.write_all(head.as_bytes()).await?;
                buffer.copy_within(end..filled, 0);
                filled -= end;
                continue;
            }
        }
        let read = stream.read(buffer.get_mut(filled..).context("buffer")?).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
    }
}
