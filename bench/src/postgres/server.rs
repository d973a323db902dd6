//! A PostgreSQL server of the benchmark's own: as Debian ships it, durable, in a temporary folder, run by a user who is not root.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::process::Process;

const USER: &str = "headwater";
/// What an operator would set for bulk writes; a commit waits for the disk, as it does by default.
const SETTINGS: [&str; 7] = [
    "listen_addresses=",
    "max_connections=300",
    "shared_buffers=512MB",
    "max_wal_size=8GB",
    "checkpoint_timeout=30min",
    "max_locks_per_transaction=256",
    "wal_compression=on",
];

pub struct PgServer {
    folder: tempfile::TempDir,
    as_user: Vec<String>,
    _process: Process,
}

/// The newest of Debian's, or whatever is in the path.
fn program(name: &str) -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = installed.map(|it| it.path().join("bin").join(name)).collect();
    found.sort();
    found.into_iter().rfind(|it| it.is_file()).unwrap_or_else(|| name.into())
}

/// What runs a program as somebody else, where this is root: the server refuses to run as root.
fn unprivileged() -> Result<Vec<String>> {
    let id = |args: &[&str]| -> Result<String> {
        let asked = Command::new("id").args(args).output()?;
        Ok(String::from_utf8(asked.stdout)?.trim().to_owned())
    };
    if id(&["-u"])? != "0" {
        return Ok(Vec::new());
    }
    let (uid, gid) = (id(&["-u", "postgres"])?, id(&["-g", "postgres"])?);
    ensure!(!uid.is_empty(), "there is no user postgres to run the server as");
    let words = ["setpriv", "--reuid", &uid, "--regid", &gid, "--clear-groups"];
    Ok(words.map(str::to_owned).to_vec())
}

fn command(as_user: &[String], program: &Path) -> Command {
    match as_user.split_first() {
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
        None => Command::new(program),
    }
}

impl PgServer {
    pub fn start() -> Result<Self> {
        let (folder, as_user) = (tempfile::tempdir()?, unprivileged()?);
        let open_to_all = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open_to_all)?;
        let data = folder.path().join("data");
        let mut initdb = command(&as_user, &program("initdb"));
        initdb.arg("-D").arg(&data).args(["-U", USER, "-A", "trust", "-E", "UTF8"]);
        let made = initdb.current_dir(folder.path()).output().context("initdb")?;
        ensure!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut postgres = command(&as_user, &program("postgres"));
        postgres.arg("-D").arg(&data).arg("-k").arg(folder.path()).current_dir("/");
        for setting in SETTINGS {
            postgres.args(["-c", setting]);
        }
        let process = Process::start(postgres.stdout(Stdio::null()).stderr(Stdio::null()))?;
        let server = PgServer { folder, as_user, _process: process };
        let until = Instant::now() + Duration::from_secs(60);
        while server.sql("postgres", "select 1").is_err() {
            ensure!(Instant::now() < until, "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user={USER}", self.folder.path().display())
    }

    /// Where the server may write files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// An empty database.
    pub fn create(&self, database: &str) -> Result<String> {
        self.sql("postgres", &format!("create database {database}"))?;
        Ok(self.url(database))
    }

    pub fn drop(&self, database: &str) -> Result<()> {
        self.sql("postgres", &format!("drop database {database} with (force)")).map(|_| ())
    }

    /// Statements, each in its turn; gives what the last one found.
    pub fn sql(&self, database: &str, statements: &str) -> Result<String> {
        let mut psql = command(&self.as_user, &program("psql"));
        psql.arg("-h").arg(self.folder.path()).args(["-U", USER, "-d", database]);
        let done = psql.args(["-Atqc", statements]).current_dir("/").output()?;
        ensure!(done.status.success(), "{statements}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(String::from_utf8(done.stdout)?.trim().to_owned())
    }

    pub fn version(&self) -> Result<String> {
        self.sql("postgres", "show server_version")
    }
}
