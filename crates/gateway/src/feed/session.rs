//! The subscriptions of one connection: `eth_subscribe`, `eth_unsubscribe`, and what is told to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use model::chain::ChainId;
use serde_json::value::RawValue;
use store::LogsQuery;
use tokio::sync::broadcast::{self, error::RecvError};

use super::chain_feed::ChainEvent;
use crate::answer::{Answer, Failure, Outcome};
use crate::gateway::Gateway;
use crate::local::LogFilter;
use crate::params::Params;
use crate::request::{Body, Request, Requests};

/// Of one connection.
const SUBSCRIPTIONS_MAX: usize = 1_000;

/// The connection could not take what it asked for; it would miss something.
#[derive(Debug, PartialEq)]
pub struct TooSlow;

pub struct Session {
    chain: ChainId,
    next_id: u64,
    wanted: BTreeMap<String, Wanted>,
    listening: Option<broadcast::Receiver<Arc<ChainEvent>>>,
    /// By their hashes, and whole.
    pending: [Option<broadcast::Receiver<Bytes>>; 2],
}

enum Wanted {
    NewHeads,
    Logs(Box<LogsQuery>),
    Pending { whole: bool },
}

impl Wanted {
    fn is_pending(&self, of_whole: bool) -> bool {
        matches!(self, Wanted::Pending { whole } if *whole == of_whole)
    }
}

impl Session {
    pub fn new(chain: ChainId) -> Self {
        let pending = [None, None];
        Session { chain, next_id: 1, wanted: BTreeMap::new(), listening: None, pending }
    }

    /// The answer to a message that is about subscriptions; none where it is any other call.
    pub async fn answer(&mut self, gateway: &Gateway, requests: &Requests<'_>) -> Option<Vec<u8>> {
        let Ok(Body::One(Ok(request))) = &requests.0 else { return None };
        let outcome = match &*request.method {
            "eth_subscribe" => self.subscribe(gateway, request).await,
            "eth_unsubscribe" => self.unsubscribe(request),
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
            "\"newPendingTransactions\"" => {
                Wanted::Pending { whole: params.get(1).is_some_and(|whole| whole.get() == "true") }
            }
            other => {
                let other = crate::params::shown(other);
                let offered = "newHeads, logs and newPendingTransactions";
                let why = format!("subscription {other} is not offered; {offered} are");
                return Err(Failure::new(-32601, &why));
            }
        };
        self.listen(gateway, &wanted).await?;
        let id = format!("{:#x}", self.next_id);
        self.next_id += 1;
        self.wanted.insert(id.clone(), wanted);
        Ok(format!("\"{id}\"").into())
    }

    async fn listen(&mut self, gateway: &Gateway, wanted: &Wanted) -> Result<(), Failure> {
        if let Wanted::Pending { whole } = *wanted {
            let [hashes, transactions] = &mut self.pending;
            let listening = if whole { transactions } else { hashes };
            if listening.is_none() {
                *listening = Some(gateway.listen_to_pending(self.chain, whole).await?);
            }
            return Ok(());
        }
        if self.listening.is_none() {
            self.listening = gateway.listen(self.chain).await;
        }
        if self.listening.is_none() {
            return Err(Failure::not_offered("eth_subscribe"));
        }
        Ok(())
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
        let is_of_blocks = |wanted: &Wanted| !matches!(wanted, Wanted::Pending { .. });
        if !self.wanted.values().any(is_of_blocks) {
            self.listening = None;
        }
        for (listening, whole) in self.pending.iter_mut().zip([false, true]) {
            if !self.wanted.values().any(|wanted| wanted.is_pending(whole)) {
                *listening = None;
            }
        }
        Ok("true".into())
    }

    /// What is to be told next. Waits for ever where nothing is subscribed to.
    pub async fn next(&mut self) -> Result<Vec<Vec<u8>>, TooSlow> {
        let [hashes, transactions] = &mut self.pending;
        tokio::select! {
            event = heard(&mut self.listening) => {
                let event = event?;
                Ok(self.told(&event))
            }
            told = heard(hashes) => Ok(self.told_pending(&told?, false)),
            told = heard(transactions) => Ok(self.told_pending(&told?, true)),
        }
    }

    fn told_pending(&self, told: &[u8], whole: bool) -> Vec<Vec<u8>> {
        let wanted = self.wanted.iter().filter(|(_, wanted)| wanted.is_pending(whole));
        wanted.map(|(id, _)| notification(id, told)).collect()
    }

    fn told(&self, event: &ChainEvent) -> Vec<Vec<u8>> {
        let mut told = Vec::new();
        for (id, wanted) in &self.wanted {
            match wanted {
                Wanted::Pending { .. } => {}
                Wanted::NewHeads if event.is_removed => {}
                Wanted::NewHeads => told.push(notification(id, &event.header)),
                Wanted::Logs(query) => {
                    for log in event.logs.iter().filter(|log| query.takes(log)) {
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

/// Waits for ever where nobody listens.
async fn heard<T: Clone>(listening: &mut Option<broadcast::Receiver<T>>) -> Result<T, TooSlow> {
    let Some(receiver) = listening else { return std::future::pending().await };
    match receiver.recv().await {
        Ok(told) => Ok(told),
        Err(RecvError::Lagged(_)) => Err(TooSlow),
        Err(RecvError::Closed) => std::future::pending().await,
    }
}

fn notification(id: &str, result: &[u8]) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":""#;
    [head.as_bytes(), id.as_bytes(), br#"","result":"#, result, b"}}"].concat()
}
