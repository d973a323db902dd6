//! The one place that knows which engines there are: an empty store of each, and how it is opened again.
//!
//! A new engine is a member of `Engine`, an arm in `open`, and a line in the macro below; every other
//! file then runs on it, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::{Error, Manifest, Options, Store};

use crate::postgres_server;
use crate::sim_block::CHAIN;

#[derive(Clone, Copy, Debug)]
pub enum Engine {
    /// A folder of this machine.
    Embedded,
    /// A database of a server that this binary starts.
    Postgres,
    /// Two of them: the chain of the tests has one of its own.
    Placed,
}

/// What a test may choose; the rest is the engine's business.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    pub durable: bool,
    pub journal_entries_min: u64,
}

impl Default for Choices {
    fn default() -> Self {
        Choices { durable: false, journal_entries_min: 100_000 }
    }
}

impl Engine {
    /// Opens the store that `folder` stands for; an empty one the first time.
    pub async fn open(self, folder: &Path, choices: Choices) -> Result<Store, Error> {
        Store::open(&self.options(folder, choices).await, |_| ()).await
    }

    async fn options(self, folder: &Path, choices: Choices) -> Options {
        let Choices { durable, journal_entries_min } = choices;
        match self {
            Engine::Postgres => {
                let server = postgres_server::server().unwrap();
                let url = server.url(&server.database(folder).await);
                Options { url, durable, journal_entries_min, ..Options::new(folder.join("store")) }
            }
            Engine::Placed => {
                let server = postgres_server::server().unwrap();
                let [main, own] = databases(folder);
                let url = server.url(&server.database(&main).await);
                let own = server.url(&server.database(&own).await);
                let placed = vec![(CHAIN, own)];
                let path = folder.join("store");
                Options { url, placed, durable, journal_entries_min, ..Options::new(path) }
            }
            Engine::Embedded => Options {
                memory_bytes: 32 << 20,
                durable,
                journal_entries_min,
                // A few blocks to a file.
                segment_bytes: 8 << 10,
                // A few blocks to a fold.
                run_bytes: Some(32 << 10),
                ..Options::new(folder.join("store"))
            },
        }
    }

    /// Makes the store that `folder` stands for of a backup.
    pub async fn restore(self, backup: &Path, folder: &Path) -> Result<Manifest, Error> {
        let options = self.options(folder, Choices::default()).await;
        Store::restore(&options, backup, Arc::default()).await
    }

    /// Copies an open store as it is at this moment, which is what a crash would leave.
    pub fn copy(self, from: &Path, to: &Path) {
        match self {
            Engine::Embedded => crate::copy_folder::copy_folder(from, to),
            Engine::Postgres => postgres_server::server().unwrap().crash(from, to),
            Engine::Placed => {
                let server = postgres_server::server().unwrap();
                let (from, to) = (databases(from), databases(to));
                from.iter().zip(&to).for_each(|(from, to)| server.crash(from, to));
            }
        }
    }
}

/// Folders that stand for the main database and the chain's own.
pub fn databases(folder: &Path) -> [PathBuf; 2] {
    ["main", "own"].map(|name| folder.join(name))
}

/// Makes a test of each function, for every engine: `async fn name(engine: Engine)`.
macro_rules! on_every_engine {
    ($($name:ident),+ $(,)?) => {
        mod embedded {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::engine::Engine::Embedded).await;
            })+
        }
        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                if crate::postgres_server::server().is_some() {
                    super::$name(crate::engine::Engine::Postgres).await;
                }
            })+
        }
        mod placed {
            $(#[tokio::test]
            async fn $name() {
                if crate::postgres_server::server().is_some() {
                    super::$name(crate::engine::Engine::Placed).await;
                }
            })+
        }
    };
}

/// The same for what only this engine offers: a database server has backups of its own.
macro_rules! on_the_embedded_engine {
    ($($name:ident),+ $(,)?) => {
        mod embedded_alone {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::engine::Engine::Embedded).await;
            })+
        }
    };
}

/// The same for `fn name(engine: Engine)`, which makes a runtime of its own for each random case.
macro_rules! on_every_engine_at_random {
    ($($name:ident),+ $(,)?) => {
        mod embedded_at_random {
            $(#[test]
            fn $name() {
                super::$name(crate::engine::Engine::Embedded);
            })+
        }
        mod postgres_at_random {
            $(#[test]
            fn $name() {
                if crate::postgres_server::server().is_some() {
                    super::$name(crate::engine::Engine::Postgres);
                }
            })+
        }
        mod placed_at_random {
            $(#[test]
            fn $name() {
                if crate::postgres_server::server().is_some() {
                    super::$name(crate::engine::Engine::Placed);
                }
            })+
        }
    };
}

pub(crate) use {on_every_engine, on_every_engine_at_random, on_the_embedded_engine};
