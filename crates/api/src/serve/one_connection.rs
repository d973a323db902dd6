//! One connection from its first byte to its end.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response, Version};
use axum::response::IntoResponse;
use bytes::Bytes;
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::{Builder, UpgradeableConnection};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Stage;
use super::answer_body::{AnswerBody, RequestPlace};
use super::call_threads::CallThreads;
use super::connections::{Connection, Place};
use super::plain::{self, Left, Serves};
use super::socket_place::SocketPlace;
use super::stream::{Stream, Watched};
use crate::answer_headers::{self, AnswerDate};
use crate::client_address::forwarded;
use crate::error::ApiError;
use crate::hosts::node_rpc::CallPath;
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
    pub call_threads: Arc<CallThreads>,
}

impl OneConnection {
    /// Ends with the connection. Its place is given back after the socket is closed, not before.
    pub async fn serve(self, builder: Builder<TokioExecutor>, mut stage: watch::Receiver<Stage>) {
        let OneConnection { stream, place, site, refusal_headers, call_threads } = self;
        let place = Arc::new(place);
        let connection = place.connection.clone();
        let io = Watched::new(stream, connection.clone(), refusal_headers);
        let socket = Arc::new(SocketPlace::new(place.clone(), stage.clone()));
        let mut answering = Answering { site, socket, place };
        let is_ending = Arc::new(AtomicBool::new(false));
        let plain = converse(io, &mut answering, &is_ending, &call_threads);
        let end = |_: Pin<&mut _>| is_ending.store(true, Ordering::Relaxed);
        let Some(Some(io)) = until_told(pin!(plain), end, &connection, &mut stage).await else {
            return;
        };
        let service = service_fn(move |request: Request<Incoming>| {
            let mut answering = answering.clone();
            async move {
                let call = answering.call_of(&request);
                let (response, place) = answering.answer(request, call).await;
                Ok::<_, Infallible>(response.map(|body| AnswerBody::new(body, place)))
            }
        });
        let http = builder.serve_connection_with_upgrades(TokioIo::new(io), service);
        let end = |http: Pin<&mut UpgradeableConnection<_, _, _>>| http.graceful_shutdown();
        until_told(pin!(http), end, &connection, &mut stage).await;
    }
}

/// Plain requests, from the first call of the node RPC on by a thread for calls. Gives the socket back where another kind
/// of request comes.
async fn converse(
    io: Watched,
    answering: &mut Answering,
    is_ending: &Arc<AtomicBool>,
    call_threads: &CallThreads,
) -> Option<Watched> {
    let mut left = plain::converse(io, answering, is_ending, Serves::UntilCall).await;
    if let Left::Call(io) = left {
        left = converse_there(io, answering, is_ending, call_threads).await;
    }
    // Whoever calls and asks for other things, too, stays here.
    if let Left::Call(io) | Left::Other(io) = left {
        left = plain::converse(io, answering, is_ending, Serves::All).await;
    }
    match left {
        Left::Nothing => None,
        Left::Call(io) | Left::Other(io) => Some(io),
    }
}

/// Calls, answered on a thread for them for as long as nothing else comes.
async fn converse_there(
    mut io: Watched,
    answering: &Answering,
    is_ending: &Arc<AtomicBool>,
    call_threads: &CallThreads,
) -> Left {
    let Some(detached) = io.detach() else { return Left::Call(io) };
    let (mut answering, is_ending) = (answering.clone(), is_ending.clone());
    let there = async move {
        io.attach(detached.ok()?).ok()?;
        let left = plain::converse(io, &mut answering, &is_ending, Serves::Calls).await;
        let (Left::Call(mut io) | Left::Other(mut io)) = left else { return None };
        let detached = io.detach()?.ok()?;
        Some((io, detached))
    };
    let Some(Some((mut io, detached))) = call_threads.run(there).await else {
        return Left::Nothing;
    };
    match io.attach(detached) {
        Ok(()) => Left::Other(io),
        Err(_) => Left::Nothing,
    }
}

/// Lets it talk until it ends, is cut off, or the server stops and nothing is under way. `end`: has it take no further
/// request.
async fn until_told<F: Future>(
    mut http: Pin<&mut F>,
    mut end: impl FnMut(Pin<&mut F>),
    connection: &Connection,
    stage: &mut watch::Receiver<Stage>,
) -> Option<F::Output> {
    loop {
        tokio::select! {
            biased;
            ended = http.as_mut() => return Some(ended),
            () = connection.told_to_go() => return None,
            _ = stage.changed() => {}
        }
        match *stage.borrow_and_update() {
            Stage::Serving => {}
            // In HTTP/1 the next answer says that it is the last one.
            Stage::Notice if !connection.activity(|activity| activity.is_h2()) => {}
            Stage::Notice => end(http.as_mut()),
            Stage::Draining => {
                end(http.as_mut());
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
            return None;
        }
        tokio::select! {
            ended = http.as_mut() => return Some(ended),
            () = connection.told_to_go() => return None,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// What answers the requests of a connection.
#[derive(Clone)]
pub struct Answering {
    site: Site,
    socket: Arc<SocketPlace>,
    place: Arc<Place>,
}

impl Answering {
    /// None for what is no call of the node RPC.
    pub fn call_of<B>(&self, request: &Request<B>) -> Option<CallPath> {
        self.site.call_of(request)
    }

    /// The answer, and the request's place, to be held until the client has it. `call`: what `call_of` said of it.
    pub async fn answer<B>(
        &mut self,
        request: Request<B>,
        call: Option<CallPath>,
    ) -> (Response<Body>, RequestPlace)
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let Place { connection, connections } = &*self.place;
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
        let place = RequestPlace::new(connection.clone(), is_h2, forwarded.flatten());
        if !is_too_many {
            return (self.site.answer(request, call, &self.socket).await, place);
        }
        let requests_max = connections.limits.per_client_max;
        let mut refused = ApiError::TooManyAtOnce { requests_max }.into_response();
        answer_headers::add(refused.headers_mut(), AnswerDate::default().get());
        request_id::add(refused.headers_mut(), &request_id::fresh());
        (refused, place)
    }
}
