//! Asks a server what its users ask, and reads the answers exactly.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use alloy_primitives::U256;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::process::KEY;

/// A number of any size, in quotes or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Int(pub U256);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let digits = raw.get().trim_matches('"');
        digits.parse().map(Int).map_err(serde::de::Error::custom)
    }
}

impl Int {
    pub fn to_u64(self) -> u64 {
        self.0.to()
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub hash: String,
    pub transaction_index: Int,
    pub from_address: String,
    pub to_address: Option<String>,
    pub value: Int,
    pub gas_price: Int,
    pub receipt_gas_used: Int,
    pub receipt_status: Option<Int>,
    pub receipt_contract_address: Option<String>,
    pub block_number: Int,
    pub internal_transactions: Option<Vec<Internal>>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Internal {
    #[serde(rename = "type")]
    pub kind: String,
    pub from: String,
    pub to: String,
    pub value: Int,
    pub error: Option<String>,
}

impl Row {
    pub fn place(&self) -> (u64, u64) {
        (self.block_number.to_u64(), self.transaction_index.to_u64())
    }
}

impl Internal {
    /// Whether coins changed hands: it carries some, stands, and is of a kind that moves them.
    pub fn moves_value(&self) -> bool {
        self.error.is_none()
            && !self.value.0.is_zero()
            && matches!(self.kind.as_str(), "CALL" | "CREATE" | "CREATE2" | "SELFDESTRUCT")
    }
}

#[derive(Debug, Deserialize)]
pub struct Page {
    #[serde(default)]
    pub total: Option<Int>,
    pub page: Int,
    pub page_size: Int,
    pub cursor: Option<String>,
    pub result: Vec<Row>,
}

impl Page {
    /// Both profiles' ways to say that nothing follows.
    pub fn next(&self) -> Option<&str> {
        self.cursor.as_deref().filter(|cursor| !cursor.is_empty())
    }
}

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    pub fn page(&self) -> Page {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

impl Client {
    pub fn new(url: &str) -> Self {
        Client { http: reqwest::Client::new(), url: url.to_owned() }
    }

    /// A path with the test's key and these headers over it.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut all = HashMap::from([("x-api-key", KEY)]);
        all.extend(headers.iter().copied());
        let mut request = self.http.get(format!("{}{path}", self.url));
        for (name, value) in all {
            request = request.header(name, value);
        }
        answer(request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    /// Operation 1: a page of a wallet; `query` holds the parameters.
    pub async fn wallet(&self, address: &str, query: &str) -> Page {
        self.get(&format!("/api/v2.2/{address}?{query}")).await.page()
    }

    /// Operation 1, page after page to the end. Only the first page is told the limit.
    pub async fn whole_wallet(&self, address: &str, query: &str, limit: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut page = self.wallet(address, &format!("{query}&limit={limit}")).await;
        for number in 1.. {
            assert_eq!(page.page_size.to_u64(), limit as u64);
            assert!(page.result.len() == limit || page.next().is_none(), "a short page goes on");
            let cursor = page.next().map(str::to_owned);
            rows.append(&mut page.result);
            let Some(cursor) = cursor else { break };
            page = self.wallet(address, &format!("{query}&cursor={cursor}")).await;
            assert_eq!(page.page.to_u64(), number);
            assert!(!page.result.is_empty(), "a cursor that leads nowhere");
        }
        if let Some(total) = page.total {
            assert_eq!(total.to_u64() as usize, rows.len(), "total of {address}?{query}");
        }
        rows
    }

    /// JSON-RPC as it stands.
    pub async fn rpc_text(&self, chain: &str, body: String) -> Answer {
        let request = self.http.post(format!("{}/{chain}/{KEY}", self.url));
        answer(request.header("content-type", "application/json").body(body)).await
    }

    /// The result of one call.
    pub async fn rpc(&self, chain: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut json = self.rpc_text(chain, body.to_string()).await.json();
        assert!(json.get("error").is_none(), "{method}: {json}");
        json["result"].take()
    }

    /// The results of many calls of one method, in batches.
    pub async fn rpc_many(&self, chain: &str, method: &str, params: &[Value]) -> Vec<Value> {
        let mut results = Vec::with_capacity(params.len());
        for some in params.chunks(100) {
            let calls: Vec<Value> = some
                .iter()
                .enumerate()
                .map(|(id, params)| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
                .collect();
            let mut answers = self.rpc_text(chain, json!(calls).to_string()).await.json();
            for (id, answer) in answers.as_array_mut().unwrap().iter_mut().enumerate() {
                assert_eq!(answer["id"], id, "{answer}");
                assert!(answer.get("error").is_none(), "{answer}");
                results.push(answer["result"].take());
            }
        }
        assert_eq!(results.len(), params.len());
        results
    }

    /// What /status says of a chain.
    pub async fn status(&self, chain: &str) -> Value {
        self.get("/status").await.json()["chains"][chain].take()
    }

    /// Waits until the chain's head is this block and nothing below it is missing.
    pub async fn until_indexed(&self, chain: &str, head: u64, hash: &str) {
        let started = Instant::now();
        loop {
            let status = self.status(chain).await;
            if status["coverage"] == format!("0-{head}") && status["head"]["hash"] == hash {
                return;
            }
            assert!(
                started.elapsed() < Duration::from_secs(90),
                "not indexed to {head} {hash}: {status}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, body: response.text().await.unwrap() }
}
