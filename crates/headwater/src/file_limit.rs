//! How many files the process may have open, and who gets how many: the store and the nodes first, strangers
//! the rest. A connection can be shed; a store that cannot open its files cannot.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Streams, timers, the log, the socket in the data folder with all it takes.
const PROCESS_FILES: u64 = 96;
/// What the store has open beside its cached tables: logs, and tables being written.
const STORE_EXTRA_FILES: u64 = 64;
/// Tables that the store keeps open: a quarter of all, within these bounds.
const STORE_FILES_MIN: u64 = 64;
const STORE_FILES_MAX: u64 = 900;
/// However low the limit, so many strangers are let in.
const CONNECTIONS_MIN: u64 = 16;

/// Where the system knows no limit.
const UNLIMITED: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlan {
    pub limit: u64,
    pub store_files: usize,
    pub connections_max: usize,
}

/// Raises the limit as far as the system lets us; servers need more than the usual 1,024.
pub fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Where it is refused, we live with what there is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// What there is now.
pub fn plan(node_files: u64) -> FilePlan {
    divide(getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED).min(UNLIMITED), node_files)
}

/// `node_files` is what all nodes may take at once.
fn divide(limit: u64, node_files: u64) -> FilePlan {
    let store_files = (limit / 4).clamp(STORE_FILES_MIN, STORE_FILES_MAX);
    let reserved = PROCESS_FILES + STORE_EXTRA_FILES + store_files + node_files.min(limit / 4);
    let left = limit.saturating_sub(reserved).max(CONNECTIONS_MIN);
    FilePlan { limit, store_files: store_files as usize, connections_max: left as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_and_the_nodes_come_first() {
        let usual = divide(1024, 68);
        assert_eq!(usual, FilePlan { limit: 1024, store_files: 256, connections_max: 540 });
        assert_eq!(divide(1 << 20, 68).store_files, 900);
        assert!(divide(1 << 20, 68).connections_max > 1_000_000);
        assert_eq!(divide(256, 1_000).connections_max, 16, "too few for anything");
        for limit in [512, 1024, 4096, 65_536] {
            let plan = divide(limit, 10_000);
            let nodes = 10_000.min(limit / 4);
            let taken = plan.store_files as u64 + plan.connections_max as u64 + nodes;
            assert!(taken + PROCESS_FILES + STORE_EXTRA_FILES <= limit, "{plan:?}");
        }
    }

    #[test]
    fn the_limit_is_raised_to_what_the_system_allows() {
        raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
