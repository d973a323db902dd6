//! JSON-RPC over WebSocket, with subscriptions to new heads and to the transactions of the next block, which were
//! pending a moment before.

use super::{
    NodeState,
    call::{Call, Reply},
    http::{answer_batch, answer_one},
    responder::{BodyFault, TransportFault},
};
use crate::chain::{SimBlock, read};
use axum::{
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    response::Response,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

pub(super) async fn upgrade(
    State(node): State<Arc<NodeState>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade.on_upgrade(move |socket| converse(node, socket))
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Heads,
    /// Whole transactions, or their hashes.
    Pending {
        whole: bool,
    },
}

struct Session {
    node: Arc<NodeState>,
    subscriptions: Vec<(String, Wanted)>,
    opened: u64,
}

async fn converse(node: Arc<NodeState>, mut socket: WebSocket) {
    let mut heads = read(&node.responder.chain).subscribe();
    let mut session = Session { node: node.clone(), subscriptions: Vec::new(), opened: 0 };
    loop {
        let goes_on = tokio::select! {
            () = node.stopped() => false,
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => session.reply(&mut socket, text.as_bytes()).await,
                Some(Ok(Message::Binary(bytes))) => session.reply(&mut socket, &bytes).await,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => true,
                Some(Ok(Message::Close(_)) | Err(_)) | None => false,
            },
            head = heads.recv() => match head {
                Ok(block) => session.notify(&mut socket, &block).await,
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => false,
            },
        };
        if !goes_on {
            return;
        }
    }
}

impl Session {
    /// False ends the connection.
    async fn reply(&mut self, socket: &mut WebSocket, request: &[u8]) -> bool {
        let (mut text, transport_fault) = match serde_json::from_slice::<Value>(request) {
            Ok(Value::Array(requests)) => answer_batch(&self.node, requests),
            Ok(request) => self.answer(request),
            Err(_) => {
                (Reply::error(-32700, "parse error").text(&Value::Null), TransportFault::default())
            }
        };
        tokio::time::sleep(transport_fault.delay).await;
        if transport_fault.http_status.is_some() || transport_fault.body == Some(BodyFault::Broken)
        {
            return false;
        }
        if transport_fault.hang || transport_fault.body.is_some() {
            return true;
        }
        if transport_fault.retry_after_s.is_some() {
            text = Reply::error(-32005, "too many requests").text(&Value::Null);
        }
        if transport_fault.truncate {
            text.truncate(text.len() / 2);
        }
        send(socket, text).await
    }

    fn answer(&mut self, request: Value) -> (Vec<u8>, TransportFault) {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        if !matches!(method, "eth_subscribe" | "eth_unsubscribe") {
            return answer_one(&self.node, request);
        }
        let call = match Call::parse(request) {
            Ok(call) => call,
            Err(text) => return (text, TransportFault::default()),
        };
        let node = self.node.clone();
        let (reply, transport_fault) =
            node.responder.answer_with(&call, |_, call| self.subscription(call));
        (reply.text(&call.id), transport_fault)
    }

    fn subscription(&mut self, call: &Call) -> Reply {
        let what = call.text(0).unwrap_or_default();
        match call.method.as_str() {
            "eth_subscribe" => {
                let wanted = match what {
                    "newHeads" => Wanted::Heads,
                    "newPendingTransactions" => Wanted::Pending { whole: call.flag(1) },
                    _ => return Reply::error(-32602, "no such subscription is simulated"),
                };
                self.opened += 1;
                let id = format!("{:#x}", self.opened);
                self.subscriptions.push((id.clone(), wanted));
                Reply::value(json!(id))
            }
            _ => {
                let before = self.subscriptions.len();
                self.subscriptions.retain(|(id, _)| id != what);
                Reply::value(json!(self.subscriptions.len() < before))
            }
        }
    }

    async fn notify(&self, socket: &mut WebSocket, block: &SimBlock) -> bool {
        if self.subscriptions.is_empty() {
            return true;
        }
        for (id, wanted) in &self.subscriptions {
            let Wanted::Pending { whole } = wanted else { continue };
            for (at, tx) in block.txs.iter().enumerate() {
                let text = match block.transaction_json(at).filter(|_| *whole) {
                    Some(text) => text,
                    None => json!(tx.hash.to_string()).to_string().into(),
                };
                if !send(socket, notification(id, &text)).await {
                    return false;
                }
            }
        }
        let Some(header) = self.node.responder.head_notice(block) else { return true };
        for (id, _) in self.subscriptions.iter().filter(|(_, it)| *it == Wanted::Heads) {
            if !send(socket, notification(id, &header)).await {
                return false;
            }
        }
        true
    }
}

fn notification(id: &str, result: &[u8]) -> Vec<u8> {
    let mut text = br#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"#.to_vec();
    text.extend(format!(r#""subscription":"{id}","result":"#).into_bytes());
    text.extend_from_slice(result);
    text.extend_from_slice(b"}}");
    text
}

async fn send(socket: &mut WebSocket, text: Vec<u8>) -> bool {
    let text = String::from_utf8_lossy(&text).into_owned();
    socket.send(Message::Text(text.into())).await.is_ok()
}
