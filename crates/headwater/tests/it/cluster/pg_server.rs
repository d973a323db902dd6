//! PostgreSQL servers that are stopped, started, copied and promoted: what a cluster's operator does.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::postgres_process::{KEEPER, USER, program, unprivileged};

const SETTINGS: [&str; 8] = [
    "listen_addresses=",
    "fsync=off",
    "max_connections=300",
    "shared_buffers=64MB",
    "max_locks_per_transaction=256",
    "wal_level=replica",
    "hot_standby=on",
    "wal_keep_size=512MB",
];

pub struct PgServer {
    /// Holds the socket and `data`.
    pub folder: PathBuf,
    as_user: Vec<String>,
    keeper: Option<Child>,
}

fn run(as_user: &[String], words: &[&str]) -> String {
    let all: Vec<OsString> = as_user.iter().map(OsString::from).collect();
    let (name, rest) = words.split_first().unwrap();
    let mut all = all;
    all.push(program(name).unwrap().into_os_string());
    all.extend(rest.iter().map(OsString::from));
    let done = Command::new(&all[0]).args(&all[1..]).current_dir("/").output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{words:?}: {said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

impl PgServer {
    fn at(folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        PgServer { folder, as_user: unprivileged().unwrap_or_default(), keeper: None }
    }

    /// None where PostgreSQL is not installed, which is said elsewhere.
    pub fn init(folder: PathBuf) -> Option<Self> {
        program("initdb").zip(program("pg_basebackup"))?;
        let server = Self::at(folder);
        let data = server.data();
        let words = ["initdb", "-D", &data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"];
        run(&server.as_user, &words);
        Some(server)
    }

    /// A copy of it as it runs now, in a folder of its own; `more` are words for pg_basebackup.
    pub fn copy(&self, folder: PathBuf, more: &[&str]) -> Self {
        let copy = Self::at(folder);
        let (socket, data) = (self.folder.display().to_string(), copy.data());
        let mut words = vec!["pg_basebackup", "-h", &socket, "-U", USER, "-D", &data, "-c", "fast"];
        words.extend(more);
        run(&self.as_user, &words);
        copy
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    /// How a URL names its socket's folder.
    pub fn host(&self) -> String {
        self.folder.display().to_string().replace('/', "%2F")
    }

    pub fn url(&self) -> String {
        format!("postgres://{USER}@{}/postgres", self.host())
    }

    /// Adds lines to its configuration, for the next start.
    pub fn configure(&self, lines: &str) {
        let file = Path::new(&self.data()).join("postgresql.auto.conf");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, format!("{before}\n{lines}\n")).unwrap();
    }

    pub fn start(&mut self) {
        let log = self.folder.join("server.log");
        let _ = std::fs::remove_file(&log);
        let mut keeper = Command::new("sh");
        // The folder goes with the test's own.
        let keep = KEEPER.replace("; rm -rf \"$folder\"", "");
        // It may have been stopped before.
        let keep = keep.replace("kill -INT $server", "kill -INT $server 2>/dev/null");
        keeper.args(["-c", &keep, "keeper"]).arg(&self.folder).args(&self.as_user);
        keeper.arg(program("postgres").unwrap()).args(["-D", &self.data(), "-k"]).arg(&self.folder);
        for setting in SETTINGS {
            keeper.args(["-c", setting]);
        }
        keeper.current_dir("/").stdin(Stdio::piped());
        self.keeper = Some(keeper.spawn().unwrap());
        let until = Instant::now() + Duration::from_secs(60);
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        while !said().contains("ready to accept") {
            assert!(Instant::now() < until, "the server does not start: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `fast` or `immediate`.
    pub fn stop(&mut self, mode: &str) {
        run(&self.as_user, &["pg_ctl", "stop", "-D", &self.data(), "-m", mode, "-w"]);
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait().unwrap();
        }
    }

    pub fn promote(&self) {
        run(&self.as_user, &["pg_ctl", "promote", "-D", &self.data(), "-w"]);
    }

    pub fn sql(&self, statement: &str) -> String {
        let socket = self.folder.display().to_string();
        let words = ["psql", "-h", &socket, "-U", USER, "-d", "postgres", "-Atqc", statement];
        run(&[], &words).trim().to_owned()
    }
}

impl Drop for PgServer {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}
