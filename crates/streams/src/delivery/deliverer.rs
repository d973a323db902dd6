//! Sends what streams have to send, until receivers took it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{QueuedDelivery, Store, StreamId};
use tasks::{TaskBoard, TaskProblem};
use tokio::sync::{Notify, watch};

use super::attempt::{Attempt, Reason};
use super::config::DeliveryConfig;
use super::directory::{Directory, TargetInfo};
use super::error::DeliveryError;
use super::handed_over::HandOver;
use super::headers::{Said, headers};
use super::id::random_id;
use super::in_flight::InFlight;
use super::limits::Limits;
use super::post::{Post, Poster};
use super::running::Running;
use super::schedule::Outcome;
use super::shared::{Lane, Shared, lock};
use super::to_lanes::ToLanes;
use super::writer::AttemptWriter;
use super::{claims, first_attempts, post, queue_metrics, retries};
use crate::clock::now_ms;
use crate::payload::test_body;
use crate::signature::Secrets;
use crate::target::{Guard, Lookup, SystemLookup};

const TEST_TIMEOUT: Duration = Duration::from_secs(10);
/// What is in flight ends by its own timeout; then the results are stored, if the store takes them.
const STORE_RESULTS_MAX: Duration = Duration::from_secs(5);

pub struct Deliverer {
    shared: Arc<Shared>,
    to_lanes: ToLanes,
}

impl Deliverer {
    /// Goes on where the store says it stopped. To be called within a runtime.
    pub fn start(
        store: Store,
        config: DeliveryConfig,
        directory: Arc<dyn Directory>,
    ) -> Result<Arc<Self>, DeliveryError> {
        Self::start_with(store, config, directory, Arc::new(SystemLookup::default()))
    }

    /// With somebody else's knowledge of names.
    pub fn start_with(
        store: Store,
        config: DeliveryConfig,
        directory: Arc<dyn Directory>,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Arc<Self>, DeliveryError> {
        config.check().map_err(DeliveryError::Config)?;
        let guard = Guard::new(&config.allow_private_targets);
        let (retry_wake, tasks) = (Arc::new(Notify::new()), TaskBoard::default());
        let shared = Arc::new(Shared {
            poster: Poster::new(guard, lookup).map_err(DeliveryError::Config)?,
            limits: Limits::new(&config),
            writer: AttemptWriter::start(store.clone(), retry_wake.clone(), tasks.clone()),
            sender: random_id(),
            store,
            config,
            directory,
            in_flight: Arc::new(InFlight::default()),
            hand_over: HandOver::default(),
            read_ahead: HandOver::default(),
            lanes: Default::default(),
            held: Default::default(),
            retry_wake,
            rates: Default::default(),
            stop: watch::Sender::new(false),
            running: Running::default(),
            tasks,
        });
        if !shared.store.is_shared() {
            for stream in shared.directory.sending() {
                first_attempts::wake(&shared, stream);
            }
        }
        claims::start(&shared);
        tokio::spawn(retries::keep(shared.clone()));
        tokio::spawn(queue_metrics::keep(shared.clone()));
        tokio::spawn(post::keep_closing_idle(shared.clone()));
        let to_lanes = ToLanes::start(shared.clone());
        Ok(Arc::new(Deliverer { shared, to_lanes }))
    }

    /// What of sending does not get on, and is tried again.
    pub fn problems(&self) -> Vec<TaskProblem> {
        self.shared.tasks.problems()
    }

    /// The stream has something new to send, or is to be sent again.
    pub fn wake(&self, id: StreamId) {
        first_attempts::wake(&self.shared, id);
    }

    /// The same for deliveries that were stored just now, in the order of their numbers.
    pub fn hand_over(&self, queued: Vec<QueuedDelivery>) {
        let shared = &self.shared;
        let has_others = shared.store.is_shared();
        // What no sender is at, all senders are told of by the store: whoever is free takes it.
        let is_ours =
            |stream| !has_others || lock(&shared.lanes).get(&stream).is_some_and(Lane::is_ours);
        let queued = queued.into_iter().filter(|queued| is_ours(queued.delivery.stream));
        self.to_lanes.put(queued.map(|queued| shared.hand_over.take(queued)));
    }

    /// Whether a receiver is there and takes what is sent to it: any 2xx will do. Says why not.
    pub async fn test_call(
        &self,
        url: &str,
        secrets: &Secrets,
        region: &str,
    ) -> Result<(), String> {
        let target = TargetInfo {
            tenant: String::new(),
            webhook_url: url.to_owned(),
            tag: String::new(),
            is_sending: true,
            secrets: secrets.clone(),
            region: region.to_owned(),
            success_rate: 100,
        };
        let call = self.post_unnumbered(&target, test_body(), 0, TEST_TIMEOUT);
        match tokio::time::timeout(TEST_TIMEOUT, call).await {
            Ok(Some(outcome)) => outcome.error().map_or(Ok(()), |error| Err(error.to_owned())),
            Ok(None) => Err("The server is stopping".to_owned()),
            Err(_) => Err(format!("No answer within {} ms", TEST_TIMEOUT.as_millis())),
        }
    }

    /// Makes another attempt of a delivery that was tried before, whatever became of it and of its stream. Says
    /// whether the receiver took it.
    pub async fn send_again(&self, id: StreamId, seq: u64) -> Result<bool, DeliveryError> {
        let shared = &self.shared;
        if shared.directory.target(id).is_none() {
            return Err(DeliveryError::NoStream);
        }
        let _running = shared.running.begin();
        let ticket = shared.in_flight.enter(id, seq).ok_or(DeliveryError::InFlight)?;
        // Read while nobody else is at it.
        let delivery = shared.store.delivery(id, seq).await?.ok_or(DeliveryError::NoDelivery)?;
        if delivery.state.attempts == 0 {
            return Err(DeliveryError::Waiting);
        }
        if shared.store.delivery_body(id, seq).await?.is_none() {
            return Err(DeliveryError::NoDelivery);
        }
        let queue_size = shared.store.stream_queue(id).await?.waiting;
        let attempt = Attempt::new(&delivery, queue_size, Reason::Asked);
        let record = shared.attempt(attempt).await.ok_or(DeliveryError::Stopping)?;
        let is_taken = record.log.as_ref().is_some_and(|log| log.error.is_none());
        shared.writer.put(record, ticket).await;
        shared.writer.flush().await;
        Ok(is_taken)
    }

    /// Sends a body that is no delivery: it has no number and no digest, and is not tried again.
    pub async fn post_once(&self, id: StreamId, body: Bytes) -> Result<(), DeliveryError> {
        let shared = &self.shared;
        let target = shared.directory.target(id).ok_or(DeliveryError::NoStream)?;
        let queue_size = shared.store.stream_queue(id).await?.waiting;
        let timeout = Duration::from_millis(shared.config.timeout_ms);
        let outcome = self.post_unnumbered(&target, body, queue_size, timeout).await;
        match outcome.ok_or(DeliveryError::Stopping)?.error() {
            Some(error) => Err(DeliveryError::Failed(error.to_owned())),
            None => Ok(()),
        }
    }

    async fn post_unnumbered(
        &self,
        target: &TargetInfo,
        body: Bytes,
        queue_size: u64,
        timeout: Duration,
    ) -> Option<Outcome> {
        let shared = &self.shared;
        let _running = shared.running.begin();
        let receiver = match shared.poster.check(&target.webhook_url) {
            Ok(receiver) => receiver,
            Err(why) => return Some(Outcome::failed(why)),
        };
        let place = shared.limits.place(&receiver.host, body.len() as u64);
        let _place = shared.unless_stopping(place).await??;
        let id = random_id();
        let said = Said {
            id: &id,
            body: &body,
            now_ms: now_ms(),
            signed: None,
            queue_size,
            delivery: None,
        };
        let headers = headers(target, &said);
        Some(shared.post(Post { receiver, headers, body, timeout }).await)
    }

    pub fn is_stopping(&self) -> bool {
        self.shared.is_stopping()
    }

    /// Begins nothing new, waits for what is in flight, and stores how it ended.
    pub async fn stop(&self) {
        let shared = &self.shared;
        shared.stop.send_replace(true);
        let longest = Duration::from_millis(shared.config.timeout_ms).max(TEST_TIMEOUT);
        let ended = async {
            shared.running.ended().await;
            shared.writer.flush().await;
            // Others need not wait for the claims to run out.
            let _ = shared.store.release_claims(&shared.sender).await;
        };
        if tokio::time::timeout(longest + STORE_RESULTS_MAX, ended).await.is_err() {
            tracing::warn!("webhooks were still under way at the end; some will be sent again");
        }
    }
}

impl Drop for Deliverer {
    fn drop(&mut self) {
        self.shared.stop.send_replace(true);
    }
}
