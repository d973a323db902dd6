//! A stream with all that is kept of it: what its owner configured, how it is, when it changed.

use model::chain::ChainId;
use serde::{Deserialize, Serialize};
use store::{ReaderCursor, Start, StreamId, StreamRow};

use crate::clock;
use crate::definition::Definition;
use crate::uuid::uuid_text;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Matched and sent.
    #[default]
    Active,
    /// Neither matched nor sent.
    Paused,
    /// Matched and recorded, not sent.
    Error,
    /// Neither, and for good.
    Terminated,
}

impl Status {
    pub const ALL: [Status; 4] =
        [Status::Active, Status::Paused, Status::Error, Status::Terminated];

    pub fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Paused => "paused",
            Status::Error => "error",
            Status::Terminated => "terminated",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    pub fn is_matched(self) -> bool {
        matches!(self, Status::Active | Status::Error)
    }
}

pub const ACTIVE: &str = "Stream is active";
pub const PAUSED: &str = "Stream was paused by the user";

/// As the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamRecord {
    pub definition: Definition,
    pub status: Status,
    pub status_message: String,
    pub created_ms: u64,
    pub updated_ms: u64,
    pub error_since_ms: Option<u64>,
    /// 100 at first; one less for every failed attempt, one more for every success.
    pub success_rate: u8,
    /// Chains on which it has a journal reader of its own, because it is not where the others are.
    pub own_readers: Vec<OwnReaderRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnReaderRecord {
    pub chain: u64,
    /// Where it begins; none where it was made at another reader's place.
    pub start: Option<u64>,
}

/// Where a reader of a stream's own begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnStart {
    Block(u64),
    At(ReaderCursor),
}

impl From<OwnStart> for Start {
    fn from(start: OwnStart) -> Self {
        match start {
            OwnStart::Block(number) => Start::Block(number),
            OwnStart::At(cursor) => Start::At(cursor),
        }
    }
}

impl StreamRecord {
    pub fn new(definition: Definition) -> Self {
        let now = clock::now_ms();
        StreamRecord {
            definition,
            status_message: ACTIVE.to_owned(),
            created_ms: now,
            updated_ms: now,
            success_rate: 100,
            ..StreamRecord::default()
        }
    }

    pub fn row(&self, id: StreamId, tenant: &str) -> StreamRow {
        // Strings, numbers and lists: nothing that JSON cannot say.
        let body = serde_json::to_vec(self).unwrap_or_default();
        StreamRow { id, tenant: tenant.to_owned(), body }
    }

    /// None: it is with the others again.
    pub fn set_own_reader(&mut self, chain: ChainId, start: Option<OwnStart>) {
        self.own_readers.retain(|own| own.chain != chain.0);
        let start = match start {
            None => return,
            Some(OwnStart::Block(number)) => Some(number),
            Some(OwnStart::At(_)) => None,
        };
        self.own_readers.push(OwnReaderRecord { chain: chain.0, start });
    }

    pub fn set_status(&mut self, status: Status, message: String) {
        self.error_since_ms = match (status, self.error_since_ms) {
            (Status::Error, None) => Some(clock::now_ms()),
            (Status::Error, since) => since,
            _ => None,
        };
        self.status = status;
        self.status_message = message;
        self.updated_ms = clock::now_ms();
    }
}

/// As answers show it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamView {
    pub id: String,
    #[serde(flatten)]
    pub definition: Definition,
    pub status: Status,
    pub status_message: String,
    pub amount_of_addresses: u64,
    pub updated_at: String,
    pub created_at: String,
    pub is_error_since: Option<String>,
}

impl StreamView {
    pub fn new(id: StreamId, record: &StreamRecord, addresses: u64) -> Self {
        StreamView {
            id: uuid_text(&id),
            definition: record.definition.clone(),
            status: record.status,
            status_message: record.status_message.clone(),
            amount_of_addresses: addresses,
            updated_at: clock::iso_millis(record.updated_ms),
            created_at: clock::iso_millis(record.created_ms),
            is_error_since: record.error_since_ms.map(clock::iso_millis),
        }
    }
}
