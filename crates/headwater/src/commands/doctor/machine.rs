//! What the machine gives: a folder to write to, room in it, ports, open files.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};

use super::finding::Notes;
use crate::config::Settings;
use crate::file_limit::FilePlan;

/// The store's own, where `store.free_bytes_min` is 0: see there.
const FREE_BYTES_MIN: u64 = 1 << 30;
const FREE_SHARE: u64 = 20;
/// With less than this many times that free, a chain's history will soon meet the limit.
const ROOM_TIMES: u64 = 10;
/// Below this the store has hardly a table open at a time.
const OPEN_FILES_MIN: u64 = 512;

/// `is_running`: a server has this folder already.
pub fn folder(settings: &Settings, is_running: bool) -> Notes {
    let path = &settings.store.path;
    let mut notes = Notes::new(format!("data folder {}", path.display()));
    let there = nearest(path);
    let mode = Access::WRITE_OK | Access::EXEC_OK;
    match access(&there, mode) {
        Err(error) => notes.wrong(
            "folder",
            format!("{} cannot be written: {error}", there.display()),
            "give it to the user that runs the server (chown), or choose another with --data",
        ),
        Ok(()) if is_running => notes.good("folder", "a server runs on it"),
        Ok(()) if path.exists() => notes.good("folder", "is there and can be written"),
        Ok(()) => notes.good("folder", "is not there yet; the server will make it"),
    }
    space(settings, &there, &mut notes);
    notes
}

fn space(settings: &Settings, path: &Path, notes: &mut Notes) {
    let Ok(stat) = statvfs(path) else {
        notes.warning("space", "the file system does not say what is free", "look yourself: df -h");
        return;
    };
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    let free = bytes(stat.f_bavail);
    let min = match settings.store.free_bytes_min {
        0 => FREE_BYTES_MIN.min(bytes(stat.f_blocks) / FREE_SHARE),
        min => min,
    };
    let text = format!("{} free, writing pauses below {}", shown(free), shown(min));
    if free < min {
        notes.wrong("space", text, "make room, or choose a folder on a larger disk with --data");
    } else if free < min.saturating_mul(ROOM_TIMES) {
        let todo = "enough to begin; for long history take a larger disk, or keep fewer blocks with [chains.NAME] retain_blocks";
        notes.warning("space", text, todo);
    } else {
        notes.good("space", text);
    }
    budget(settings.store.disk_budget_bytes, free, notes);
}

/// What was planned for the store should fit beside what is on the disk.
fn budget(budget: u64, free: u64, notes: &mut Notes) {
    if budget > free {
        let text =
            format!("store.disk_budget_bytes is {}, free are {}", shown(budget), shown(free));
        notes.warning("budget", text, "the disk may be full before the budget warns; set it lower");
    }
}

/// The folder itself, or the nearest one above it that is there.
fn nearest(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = absolute.ancestors().find(|folder| folder.exists());
    found.map_or_else(|| PathBuf::from("/"), Path::to_owned)
}

pub fn ports(settings: &Settings, is_running: bool) -> Notes {
    let listen = &settings.listen;
    let mut notes = Notes::new("ports");
    let all = [
        ("listen.all", &listen.all),
        ("listen.data", &listen.data),
        ("listen.rpc", &listen.rpc),
        ("listen.streams", &listen.streams),
        ("listen.admin", &listen.admin),
        ("listen.console", &listen.console),
    ];
    for (name, address) in all.into_iter().filter(|(_, address)| !address.is_empty()) {
        port(name, address, is_running, &mut notes);
    }
    notes
}

fn port(name: &str, address: &str, is_running: bool, notes: &mut Notes) {
    match TcpListener::bind(address) {
        Ok(_) => notes.good("port", format!("{name} {address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_running => {
            notes.good("port", format!("{name} {address} is in use, and a server runs"));
        }
        Err(error) => {
            let todo = match error.kind() {
                ErrorKind::AddrInUse => {
                    "stop what listens there (ss -ltnp), or choose another port"
                }
                ErrorKind::PermissionDenied => {
                    "ports below 1024 need a privilege; choose a higher one, and a proxy in front"
                }
                ErrorKind::AddrNotAvailable => {
                    "this machine does not have the address; 0.0.0.0 is all it has"
                }
                _ => "choose another address",
            };
            notes.wrong("port", format!("{name} {address}: {error}"), todo);
        }
    }
}

pub fn files(settings: &Settings, plan: FilePlan) -> Notes {
    let mut notes = Notes::new("open files");
    let (limit, room) = (plan.limit, plan.connections_max);
    let wanted = settings.listen.connections_max;
    let text = format!("{limit} allowed: room for {} connections of clients", room.min(wanted));
    let todo = "raise it: ulimit -Hn 65536, or LimitNOFILE=65536 in the service's file";
    if limit < OPEN_FILES_MIN {
        notes.wrong("limit", text, todo);
    } else if room < wanted {
        notes.warning("limit", format!("{text}, listen.connections_max is {wanted}"), todo);
    } else {
        notes.good("limit", text);
    }
    notes
}

fn shown(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib >= 1.0 { format!("{gib:.1} GiB") } else { format!("{:.0} MiB", gib * 1024.0) }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;
    use crate::config::Flags;

    fn settings() -> Settings {
        Settings::load_with(&Flags::default(), std::iter::empty()).unwrap()
    }

    #[test]
    fn too_few_open_files_are_wrong_and_fewer_than_wanted_worth_a_look() {
        for (limit, connections_max, state) in
            [(256, 16, State::Wrong), (1024, 540, State::Warning), (65_536, 60_000, State::Good)]
        {
            let plan = FilePlan { limit, store_files: 64, connections_max };
            assert_eq!(files(&settings(), plan).findings[0].state, state, "{limit}");
        }
    }

    #[test]
    fn a_disk_that_is_fuller_than_the_store_allows_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings();
        settings.store.path = folder.path().join("deep/down");
        for (min, state) in [(1, State::Good), (u64::MAX, State::Wrong)] {
            settings.store.free_bytes_min = min;
            let notes = super::folder(&settings, false);
            assert_eq!(notes.findings[0].state, State::Good, "{:?}", notes.findings[0]);
            assert_eq!(notes.findings[1].state, state, "{:?}", notes.findings[1]);
        }
    }

    #[test]
    fn sizes_are_shown_as_people_say_them() {
        assert_eq!(shown(5 << 30), "5.0 GiB");
        assert_eq!(shown(512 << 20), "512 MiB");
    }
}
