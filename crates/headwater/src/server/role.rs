//! What a process does of all that a server can do.

use anyhow::{Result, bail};
use api::Hosts;
use store::Store;

use crate::cli::Role;

impl Role {
    /// A folder belongs to one process, which does everything, or everything but reading.
    pub fn check(self, store: &Store) -> Result<()> {
        if store.is_shared() || matches!(self, Role::All | Role::Api) {
            return Ok(());
        }
        bail!(
            "--role {} is one of several processes on one database, and store.url is empty: a data folder belongs to one \
             process. Set store.url, or use --role all",
            self.name()
        )
    }

    pub fn name(self) -> &'static str {
        match self {
            Role::All => "all",
            Role::Ingest => "ingest",
            Role::Api => "api",
            Role::Gateway => "gateway",
            Role::Streams => "streams",
        }
    }

    pub fn ingests(self) -> bool {
        matches!(self, Role::All | Role::Ingest)
    }

    /// Without others who could, an `api` process matches and sends, too.
    pub fn runs_streams(self, store: &Store) -> bool {
        matches!(self, Role::All | Role::Streams) || !store.is_shared()
    }

    /// Health, status and metrics are served by all.
    pub fn hosts(self) -> Hosts {
        match self {
            Role::All | Role::Api => Hosts::ALL,
            Role::Gateway => Hosts { rpc: true, ..Hosts::NONE },
            Role::Ingest | Role::Streams => Hosts::NONE,
        }
    }
}
