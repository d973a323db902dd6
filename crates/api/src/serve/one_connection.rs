//! One connection from its first byte to its end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, Response, Version};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Stage;
use super::answer_body::{AnswerBody, RequestPlace};
use super::connections::{Connection, Connections, Place};
use super::socket_place::SocketPlace;
use super::stream::{Stream, Watched};
use crate::answer_headers::{self, AnswerDate};
use crate::client_address::forwarded;
use crate::error::ApiError;
use crate::request_id;
use crate::site::Site;

/// How long an idle HTTP/2 client has to see that we are going, and how often that is looked at.
const GOODBYE: Duration = Duration::from_millis(250);
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub struct OneConnection {
    pub stream: Stream,
    pub place: Place,
    pub site: Site,
    pub refusal_headers: Arc<str>,
}

impl OneConnection {
    /// Ends with the connection. Its place is given back after the socket is closed, not before.
    pub async fn serve(self, builder: Builder<TokioExecutor>, mut stage: watch::Receiver<Stage>) {
        let OneConnection { stream, place, site, refusal_headers } = self;
        let place = Arc::new(place);
        let connection = place.connection.clone();
        let io = TokioIo::new(Watched::new(stream, connection.clone(), refusal_headers));
        let (asked, connections) = (connection.clone(), place.connections.clone());
        let socket = Arc::new(SocketPlace::new(place.clone(), stage.clone()));
        let service = service_fn(move |request: Request<Incoming>| {
            let asked = Asked { request, socket: socket.clone(), connection: asked.clone() };
            answer(site.clone(), connections.clone(), asked)
        });
        let mut http = pin!(builder.serve_connection_with_upgrades(io, service));
        loop {
            tokio::select! {
                _ = http.as_mut() => return,
                () = connection.told_to_go() => return,
                _ = stage.changed() => {}
            }
            match *stage.borrow_and_update() {
                Stage::Serving => {}
                // In HTTP/1 the next answer says that it is the last one.
                Stage::Notice if !connection.activity(|activity| activity.is_h2()) => {}
                Stage::Notice => http.as_mut().graceful_shutdown(),
                Stage::Draining => {
                    http.as_mut().graceful_shutdown();
                    break;
                }
            }
        }
        let asked_to_stop = Instant::now();
        loop {
            let (is_busy, is_h2) =
                connection.activity(|activity| (activity.is_busy(), activity.is_h2()));
            // Nobody waits for half a head.
            let patience = if is_h2 { GOODBYE } else { Duration::ZERO };
            if !is_busy && asked_to_stop.elapsed() >= patience {
                return;
            }
            tokio::select! {
                _ = http.as_mut() => return,
                () = connection.told_to_go() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}

/// A request, and the connection that it came by.
struct Asked {
    request: Request<Incoming>,
    socket: Arc<SocketPlace>,
    connection: Arc<Connection>,
}

async fn answer(
    mut site: Site,
    connections: Arc<Connections>,
    asked: Asked,
) -> Result<Response<AnswerBody>, Infallible> {
    let Asked { request, socket, connection } = asked;
    let is_h2 = request.version() == Version::HTTP_2;
    // Whoever sends a hundred requests at once has them answered one by one, with everybody else between.
    if connection.activity(|activity| activity.is_pipelined()) {
        tokio::task::yield_now().await;
    }
    let client = connection
        .is_proxy
        .then(|| forwarded(request.headers(), &connections.limits.trusted_proxies))
        .flatten();
    let forwarded = client.map(|client| connections.admit_forwarded(client));
    let is_too_many = matches!(forwarded, Some(None));
    let place = RequestPlace::new(connection, is_h2, forwarded.flatten());
    let response = if is_too_many {
        let requests_max = connections.limits.per_client_max;
        let mut refused = ApiError::TooManyAtOnce { requests_max }.into_response();
        answer_headers::add(refused.headers_mut(), AnswerDate::default().get());
        request_id::add(refused.headers_mut(), &request_id::fresh());
        refused
    } else {
        site.answer(request, &socket).await
    };
    Ok(response.map(|body| AnswerBody::new(body, place)))
}
