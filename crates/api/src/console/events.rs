//! `GET /console/api/events`: new blocks of all chains as they are written, as Server-Sent Events.
//!
//! A page that listens holds a connection, so there are only so many. It is let go when its session ends, its key is
//! revoked, or the server stops.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};

use super::live::message;
use super::sessions::Session;
use crate::app::App;
use crate::clock::now_s;
use crate::error::ApiError;
use crate::serve::{HeldPlace, SocketPlace};

/// So that whatever is between sees life, and a session that ended is noticed.
const BEAT: Duration = Duration::from_secs(10);
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

pub async fn events(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    place: Option<Extension<SocketPlace>>,
) -> Result<Response, ApiError> {
    let too_many = |whose: &str| {
        let why = format!(
            "{whose} has as many live pages open as it may; this one asks from time to time"
        );
        ApiError::Unavailable(why)
    };
    let own = session.events.clone().try_acquire_owned().map_err(|_| too_many("this login"))?;
    let places = app.sessions.events.clone();
    let one_of_all = places.try_acquire_owned().map_err(|_| too_many("this server"))?;
    let blocks = app.live.listen(&app.parts.store).await;
    let page = Page {
        keys: app.parts.keys.watch(),
        app,
        session,
        blocks,
        is_new: true,
        is_over: false,
        held: place.map(|Extension(place)| place.hold()),
        _places: (own, one_of_all),
    };
    let pieces = stream::unfold(page, |mut page| async move {
        let piece = page.next().await?;
        Some((Ok::<Bytes, Infallible>(piece), page))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (UNBUFFERED, "no")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

/// One that listens.
struct Page {
    app: App,
    session: Session,
    /// Changes when keys are made or revoked.
    keys: watch::Receiver<u64>,
    blocks: broadcast::Receiver<Bytes>,
    is_new: bool,
    is_over: bool,
    held: Option<HeldPlace>,
    _places: (OwnedSemaphorePermit, OwnedSemaphorePermit),
}

impl Page {
    /// None at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        if std::mem::take(&mut self.is_new) {
            return Some(self.app.live.recent());
        }
        loop {
            tokio::select! {
                () = told_to_go(&mut self.held) => return None,
                told = self.blocks.recv() => return match told {
                    Ok(event) => Some(event),
                    Err(RecvError::Lagged(_)) => Some(self.app.live.recent()),
                    Err(RecvError::Closed) => None,
                },
                _ = self.keys.changed() => {
                    if !self.is_good() {
                        return Some(self.farewell());
                    }
                }
                () = tokio::time::sleep(BEAT) => {
                    return Some(if self.is_good() { Bytes::from_static(b": \n\n") } else { self.farewell() });
                }
            }
        }
    }

    fn is_good(&self) -> bool {
        let has_key = self.app.parts.keys.owner_of(&self.session.key_hash).is_some();
        has_key && self.app.sessions.is_good(&self.session, now_s())
    }

    fn farewell(&mut self) -> Bytes {
        self.is_over = true;
        message("logout", &Value::Null)
    }
}

async fn told_to_go(held: &mut Option<HeldPlace>) {
    match held {
        Some(held) => held.told_to_go().await,
        None => std::future::pending().await,
    }
}
