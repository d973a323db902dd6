//! Blocks and their logs from nodes, proven as far as they can be, for whoever follows a chain that nobody stores.

use std::sync::Arc;

use alloy_primitives::B256;
use bytes::Bytes;
use model::raw::reader::Reader;
use model::raw::{Header, Log, read_header_and_hashes, read_receipt_list};
use rpc::Head;
use tokio::sync::watch::Receiver;

use super::ForwardedChain;
use super::about::About;
use super::ask::Question;
use super::cache::AnswerCache;
use super::check::Checked;
use crate::answer::Failure;
use crate::methods;

pub struct BlockSource {
    chain: Arc<ForwardedChain>,
    cache: Arc<AnswerCache>,
}

impl BlockSource {
    pub fn new(chain: Arc<ForwardedChain>, cache: Arc<AnswerCache>) -> Self {
        BlockSource { chain, cache }
    }

    /// As the pool chooses it.
    pub fn heads(&self) -> Receiver<Option<Head>> {
        self.chain.pool.heads()
    }

    pub async fn header(&self, hash: B256) -> Result<Header, Failure> {
        let text = self.ask("eth_getBlockByHash", hash, format!(r#"["{hash}",false]"#)).await?;
        let read = read_header_and_hashes(&mut Reader::new(&text));
        let header = read.map(|(header, _)| header).filter(|header| header.hash == Some(hash));
        header.ok_or_else(|| Failure::internal("no node gave the block"))
    }

    /// By its receipts, which can be proven, where a node gives them.
    pub async fn logs(&self, hash: B256) -> Result<Vec<Log>, Failure> {
        let by_receipts = self.ask("eth_getBlockReceipts", hash, format!(r#"["{hash}"]"#)).await;
        let receipts = by_receipts.ok().and_then(|text| read_receipt_list(&mut Reader::new(&text)));
        if let Some(receipts) = receipts {
            return Ok(receipts.into_iter().filter_map(|receipt| receipt.logs).flatten().collect());
        }
        let params = format!(r#"[{{"blockHash":"{hash}"}}]"#);
        let text = self.ask("eth_getLogs", hash, params).await?;
        serde_json::from_slice(&text)
            .map_err(|_| Failure::internal("no node gave the block's logs"))
    }

    async fn ask(&self, name: &str, hash: B256, params: String) -> Result<Bytes, Failure> {
        let method = methods::find(name).ok_or_else(|| Failure::not_offered(name))?;
        let question = Question {
            chain: self.chain.clone(),
            cache: self.cache.clone(),
            method,
            about: About::Hash(hash),
            params: params.into(),
            checked: Checked::of(name),
            quorum: 1,
            together: None,
        };
        question.answer().await
    }
}
