//! `GET /{chain}/{key}` as a WebSocket: the same calls as by POST, with the same key, costs and limits, and subscriptions.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gateway::{Session, TooSlow};
use model::chain::ChainId;

use super::Refusal;
use super::node_rpc::served_chain;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;
use crate::serve::{HeldPlace, SocketPlace};

/// Calls of one connection under way at once; further ones wait in the socket.
const CALLS_AT_ONCE: usize = 32;
/// Whoever is silent for longer than two of these is gone.
const PING_EVERY: Duration = Duration::from_secs(30);

pub async fn rpc_socket(
    State(app): State<App>,
    Path((chain, key)): Path<(String, String)>,
    place: Option<Extension<SocketPlace>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    let upgrade = upgrade.map_err(|_| ApiError::MethodNotAllowed("GET".to_owned()))?;
    let owner = app.parts.keys.check(Some(key.as_bytes()))?;
    let chain = served_chain(&app, &chain).map_err(|error| owner.refuse(error))?;
    owner.throttle.take(1)?;
    let Some(Extension(place)) = place else {
        return Err(ApiError::MethodNotAllowed("GET".to_owned()).into());
    };
    let bytes_max = app.parts.config.body_bytes_max;
    let upgrade = upgrade.max_message_size(bytes_max).max_frame_size(bytes_max);
    let held = place.hold();
    Ok(upgrade.on_upgrade(move |socket| {
        let session = Session::new(chain);
        RpcSocket { app, chain, key: key.into(), socket, session, held }.run()
    }))
}

struct RpcSocket {
    app: App,
    chain: ChainId,
    /// Looked at with every message: it may have been revoked.
    key: Arc<str>,
    socket: WebSocket,
    session: Session,
    held: HeldPlace,
}

/// The connection is over; with a last word where the client can still hear it.
struct Over(Option<(u16, &'static str)>);

const GOING: Over = Over(Some((close_code::AWAY, "the server needs this connection back")));
const SLOW: Over =
    Over(Some((close_code::AGAIN, "too slow: events would be missed; connect again")));
const NO_KEY: Over = Over(Some((close_code::POLICY, "the key is no longer valid")));
const SILENT: Over = Over(None);

impl RpcSocket {
    async fn run(mut self) {
        let Over(word) = self.talk().await;
        if let Some((code, reason)) = word {
            let frame = CloseFrame { code, reason: reason.into() };
            let goodbye = self.socket.send(Message::Close(Some(frame)));
            let _ = tokio::time::timeout(Duration::from_secs(1), goodbye).await;
        }
    }

    async fn talk(&mut self) -> Over {
        let mut calls = FuturesUnordered::new();
        let mut ping = tokio::time::interval(PING_EVERY);
        let mut heard = true;
        loop {
            let is_full = calls.len() >= CALLS_AT_ONCE;
            let to_send = tokio::select! {
                () = self.held.told_to_go() => return GOING,
                message = self.socket.recv(), if !is_full => {
                    heard = true;
                    let text = match message {
                        Some(Ok(Message::Text(text))) => Bytes::from(text),
                        Some(Ok(Message::Binary(bytes))) => bytes,
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return SILENT,
                    };
                    match self.take(&text).await {
                        Ok(Some(answer)) => vec![answer],
                        Ok(None) => {
                            calls.push(answer(self.app.clone(), self.chain, self.key.clone(), text));
                            continue;
                        }
                        Err(over) => return over,
                    }
                }
                Some(answer) = calls.next(), if !calls.is_empty() => answer.into_iter().collect(),
                told = self.session.next() => match told {
                    Ok(told) => told,
                    Err(TooSlow) => return SLOW,
                },
                _ = ping.tick() => {
                    if !std::mem::take(&mut heard) {
                        return SILENT;
                    }
                    if let Err(over) = self.send(Message::Ping(Bytes::new())).await {
                        return over;
                    }
                    continue;
                }
            };
            for text in to_send {
                let Ok(text) = String::from_utf8(text) else { continue };
                if let Err(over) = self.send(Message::Text(text.into())).await {
                    return over;
                }
            }
        }
    }

    /// A message that can be answered at once; none where it is a call.
    async fn take(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, Over> {
        let owner = self.app.parts.keys.check(Some(self.key.as_bytes())).map_err(|_| NO_KEY)?;
        let gateway = &self.app.parts.gateway;
        let requests = gateway.read(text);
        if let Err(error) = owner.throttle.take(requests.weight()) {
            return Ok(Some(requests.refused(-32005, &error.to_string())));
        }
        // What the key may not call is refused with the calls.
        if !requests.all(|method| owner.methods.permits(method)) {
            return Ok(None);
        }
        Ok(self.session.answer(gateway, &requests).await)
    }

    async fn send(&mut self, message: Message) -> Result<(), Over> {
        tokio::select! {
            sent = self.socket.send(message) => sent.map_err(|_| SILENT),
            () = self.held.told_to_go() => Err(GOING),
        }
    }
}

/// None for notifications.
async fn answer(app: App, chain: ChainId, key: Arc<str>, text: Bytes) -> Option<Vec<u8>> {
    let gateway = &app.parts.gateway;
    let owner = app.parts.keys.check(Some(key.as_bytes()));
    let permits = |method: &str| owner.as_ref().is_ok_and(|owner| owner.methods.permits(method));
    gateway.answer(chain, gateway.read(&text).permitted(permits)).await
}
