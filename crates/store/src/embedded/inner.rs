//! What all handles of a store share: the engine, which may be opened anew, and what outlives it.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use alloy_primitives::map::HashMap;
use model::chain::ChainId;
use model::facts::PoolId;
use quick_cache::sync::Cache;
use tokio::sync::watch;

use super::announcements::Announcements;
use super::engine::{Durability, Op};
use super::folder::Space;
use super::health::Health;
use super::open_db::{ChainAt, OpenDb, WriteFailure};
use super::segments::SegmentChange;
use super::upkeep_thread::UpkeepDue;
use super::versions::Versions;
use super::write_turn::WriteTurns;
use crate::Error;
use crate::generations::Fingerprint;
use crate::options::Options;

pub struct Inner {
    /// None while it is opened anew.
    pub current: RwLock<Option<Arc<OpenDb>>>,
    /// Whether there is one.
    pub is_open: watch::Sender<bool>,
    pub health: Health,
    pub space: Space,
    /// As it was measured last.
    pub disk_bytes: AtomicU64,
    /// Pools whose rows are there already.
    pub known_pools: Cache<(ChainId, u8, PoolId), ()>,
    /// Who finds the facts that this process commits, as far as it was said.
    pub decoders: Mutex<HashMap<ChainId, Fingerprint>>,
    pub announcements: Announcements,
    pub versions: Versions,
    /// One commit at a time: counts are read, changed and written.
    pub writing: WriteTurns,
    /// One fold of runs at a time. Whoever needs this and `writing` takes this one first.
    pub folding: Mutex<()>,
    /// One merge of index files at a time. Whoever needs this and `writing` takes this one first.
    pub merging: Mutex<()>,
    /// One write of rows of streams at a time. Whoever needs this and `writing` takes this one first.
    pub stream_writing: Mutex<()>,
    pub upkeep_due: UpkeepDue,
    pub options: Options,
}

impl Inner {
    pub fn database(&self) -> Result<Arc<OpenDb>, Error> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone().ok_or_else(|| self.refused())
    }

    fn refused(&self) -> Error {
        let trouble = self.health.refusal();
        let (reason, advice) = trouble.map_or_else(
            || ("the engine is being opened anew".to_owned(), "try again in a moment".to_owned()),
            |trouble| (trouble.reason, trouble.advice),
        );
        Error::Paused { path: PathBuf::from(&self.options.path), reason, advice }
    }

    /// The one way to write rows. Refuses before the engine is touched where it could not take them.
    pub fn write(
        &self,
        ops: Vec<Op>,
        durability: Durability,
        at: Option<ChainAt>,
    ) -> Result<(), Error> {
        let durability = self.may_write(durability)?;
        self.writes(|open| open.write(ops, durability, at))
    }

    /// Bodies, before the write that leads to them.
    pub fn append_bodies(&self, change: &mut SegmentChange) -> Result<(), Error> {
        self.may_write(Durability::Disk)?;
        self.writes(|open| open.append_bodies(change))
    }

    /// The same with bodies.
    pub fn write_bodies(
        &self,
        ops: Vec<Op>,
        change: SegmentChange,
        durability: Durability,
        at: Option<ChainAt>,
    ) -> Result<(), Error> {
        let durability = self.may_write(durability)?;
        self.writes(|open| open.write_bodies(ops, change, durability, at))
    }

    /// Whether there is room, and what is waited for: a store that was opened for a bulk load waits for nothing.
    pub fn may_write(&self, durability: Durability) -> Result<Durability, Error> {
        let checked = self.space.check();
        self.health.set_full(checked.as_ref().err());
        checked?;
        Ok(if self.options.durable { durability } else { Durability::Later })
    }

    pub fn writes(
        &self,
        write: impl FnOnce(&OpenDb) -> Result<(), WriteFailure>,
    ) -> Result<(), Error> {
        if self.health.refusal().is_some() {
            return Err(self.refused());
        }
        let open = self.database()?;
        let _under_way = self.health.writing();
        write(&open).map_err(|WriteFailure { cause, error }| {
            self.health.engine_failed(cause, &error);
            error
        })
    }
}
