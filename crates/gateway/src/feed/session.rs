//! The subscriptions of one connection: `eth_subscribe`, `eth_unsubscribe`, and what is told to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::chain::ChainId;
use serde_json::value::RawValue;
use store::LogsQuery;
use tokio::sync::broadcast::{self, error::RecvError};

use super::chain_feed::Happening;
use crate::answer::{Answer, Failure, Outcome};
use crate::gateway::Gateway;
use crate::local::LogFilter;
use crate::params::Params;
use crate::request::{Body, Request, read};

/// Of one connection.
const SUBSCRIPTIONS_MAX: usize = 1_000;

/// The connection could not take what it asked for; it would miss something.
#[derive(Debug, PartialEq)]
pub struct TooSlow;

pub struct Session {
    chain: ChainId,
    next_id: u64,
    wanted: BTreeMap<String, Wanted>,
    listening: Option<broadcast::Receiver<Arc<Happening>>>,
}

enum Wanted {
    NewHeads,
    Logs(Box<LogsQuery>),
}

impl Session {
    pub fn new(chain: ChainId) -> Self {
        Session { chain, next_id: 1, wanted: BTreeMap::new(), listening: None }
    }

    /// The answer to a message that is about subscriptions; none where it is any other call.
    pub async fn answer(&mut self, gateway: &Gateway, message: &[u8]) -> Option<Vec<u8>> {
        let Ok(Body::One(Ok(request))) = read(message, gateway.config.batch_max) else {
            return None;
        };
        let outcome = match request.method.as_str() {
            "eth_subscribe" => self.subscribe(gateway, &request).await,
            "eth_unsubscribe" => self.unsubscribe(&request),
            _ => return None,
        };
        let mut answer = Answer::default();
        answer.write(request.id.unwrap_or("null"), outcome);
        Some(answer.into_vec())
    }

    async fn subscribe(&mut self, gateway: &Gateway, request: &Request<'_>) -> Outcome {
        if self.wanted.len() >= SUBSCRIPTIONS_MAX {
            let why = format!("a connection may have {SUBSCRIPTIONS_MAX} subscriptions");
            return Err(Failure::new(-32005, &why));
        }
        let text = request.params.map_or("[]", RawValue::get);
        let params: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|_| Failure::params("a list that names the subscription is needed"))?;
        let name = params.first().map_or("null", |name| name.get());
        let wanted = match name {
            "\"newHeads\"" => Wanted::NewHeads,
            "\"logs\"" => {
                let filter = params.get(1).copied().filter(|filter| filter.get() != "null");
                Wanted::Logs(Box::new(self.query(gateway, filter)?))
            }
            other => {
                let other = crate::params::shown(other);
                let why = format!("subscription {other} is not offered; newHeads and logs are");
                return Err(Failure::new(-32601, &why));
            }
        };
        if self.listening.is_none() {
            self.listening = gateway.listen(self.chain).await;
        }
        if self.listening.is_none() {
            return Err(Failure::not_offered("eth_subscribe"));
        }
        let id = format!("{:#x}", self.next_id);
        self.next_id += 1;
        self.wanted.insert(id.clone(), wanted);
        Ok(format!("\"{id}\"").into())
    }

    fn query(&self, gateway: &Gateway, filter: Option<&RawValue>) -> Result<LogsQuery, Failure> {
        let (addresses, topics) = match filter {
            Some(raw) => {
                let LogFilter { addresses, topics, .. } = LogFilter::read(raw, &gateway.config)?;
                (addresses, topics)
            }
            None => Default::default(),
        };
        let (from_block, to_block, limit) = (0, u64::MAX, usize::MAX);
        Ok(LogsQuery { chain: self.chain, from_block, to_block, addresses, topics, limit })
    }

    fn unsubscribe(&mut self, request: &Request<'_>) -> Outcome {
        let params = Params::read(request.params, 1)?;
        let id: Option<String> = serde_json::from_str(params.raw(0).get()).ok();
        if id.and_then(|id| self.wanted.remove(&id)).is_none() {
            return Err(Failure::new(-32000, "subscription not found"));
        }
        if self.wanted.is_empty() {
            self.listening = None;
        }
        Ok("true".into())
    }

    /// What is to be told next. Waits for ever where nothing is subscribed to.
    pub async fn next(&mut self) -> Result<Vec<Vec<u8>>, TooSlow> {
        let Some(listening) = &mut self.listening else { return std::future::pending().await };
        match listening.recv().await {
            Ok(happening) => Ok(self.told(&happening)),
            Err(RecvError::Lagged(_)) => Err(TooSlow),
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }

    fn told(&self, happening: &Happening) -> Vec<Vec<u8>> {
        let mut told = Vec::new();
        for (id, wanted) in &self.wanted {
            match wanted {
                Wanted::NewHeads if happening.is_removed => {}
                Wanted::NewHeads => told.push(notification(id, &happening.header)),
                Wanted::Logs(query) => {
                    for log in happening.logs.iter().filter(|log| query.takes(log)) {
                        let mut json = Vec::with_capacity(512);
                        log.write_json(&mut json);
                        told.push(notification(id, &json));
                    }
                }
            }
        }
        told
    }
}

fn notification(id: &str, result: &[u8]) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":""#;
    [head.as_bytes(), id.as_bytes(), br#"","result":"#, result, b"}}"].concat()
}
