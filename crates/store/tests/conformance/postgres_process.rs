//! A PostgreSQL server in a temporary folder, reached by a socket in it, run by an unprivileged user, gone with the
//! process that started it.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const USER: &str = "headwater";
/// No test waits for the disk, and none outlives the server.
const SETTINGS: [&str; 8] = [
    "listen_addresses=",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_connections=400",
    "shared_buffers=64MB",
    "autovacuum=off",
    "max_locks_per_transaction=256",
];
/// The server ends when the test process does: then nobody holds the other end of its input any more.
pub const KEEPER: &str = r#"folder="$1"; shift; "$@" >"$folder/server.log" 2>&1 & server=$!
    cat >/dev/null; kill -INT $server; wait $server; rm -rf "$folder""#;

pub struct PostgresProcess {
    folder: PathBuf,
    _keeper: Child,
}

/// A server that is about to start.
pub struct Made {
    folder: PathBuf,
    /// What runs a program as the server's user.
    as_user: Vec<String>,
    postgres: PathBuf,
}

/// The newest of Debian's, or whatever is in the path.
pub fn program(name: &str) -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = installed.map(|entry| entry.path()).collect();
    versions
        .sort_by_key(|path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = versions.iter().rev().map(|version| version.join("bin"));
    folders.chain(std::env::split_paths(&path)).map(|bin| bin.join(name)).find(|it| it.is_file())
}

/// As whom the server runs: it refuses to run as root.
pub fn unprivileged() -> Option<Vec<String>> {
    let id = |args: &[&str]| {
        let asked = Command::new("id").args(args).output().ok()?;
        asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).trim().to_owned())
    };
    if id(&["-u"])? != "0" {
        return None;
    }
    let user = ["postgres", "nobody"].into_iter().find(|user| id(&["-u", user]).is_some())?;
    let (uid, gid) = (id(&["-u", user])?, id(&["-g", user])?);
    let as_user = ["setpriv", "--reuid", &uid, "--regid", &gid, "--clear-groups"];
    Some(as_user.map(str::to_owned).to_vec())
}

impl Made {
    /// None where PostgreSQL is not installed, which is said.
    pub fn new() -> Option<Self> {
        let programs = program("initdb").zip(program("postgres"));
        let Some((initdb, postgres)) = programs else {
            // Past the harness, which shows nothing of tests that pass.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: the postgres engine: PostgreSQL is not installed"
            );
            return None;
        };
        let memory = Path::new("/dev/shm");
        let made = memory.is_dir().then(|| tempfile::tempdir_in(memory).ok()).flatten();
        let folder = made.unwrap_or_else(|| tempfile::tempdir().unwrap()).keep();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let made = Made { folder, as_user: unprivileged().unwrap_or_default(), postgres };
        let mut words = vec![initdb.into_os_string(), "-D".into(), made.data().into_os_string()];
        let rest = ["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
        words.extend(rest.map(OsString::from));
        made.run_as_user(&words);
        Some(made)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Runs a program in the server's folder to its end, which must be a good one.
    pub fn run_as_user(&self, words: &[OsString]) {
        let all = self.as_user.iter().map(OsString::from).chain(words.iter().cloned());
        let all: Vec<OsString> = all.collect();
        let run = Command::new(&all[0]).args(&all[1..]).current_dir(&self.folder).output().unwrap();
        assert!(run.status.success(), "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
    }

    pub fn start(self, port: u16, more: &[&str]) -> PostgresProcess {
        let Made { folder, as_user, postgres } = self;
        let data = folder.join("data");
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper"]).arg(&folder).args(as_user).arg(postgres);
        keeper.arg("-D").arg(&data).arg("-k").arg(&folder).args(["-p", &port.to_string()]);
        keeper.current_dir("/").stdin(Stdio::piped());
        for setting in SETTINGS.iter().chain(more) {
            keeper.args(["-c", setting]);
        }
        let keeper = keeper.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let log = || std::fs::read_to_string(folder.join("server.log")).unwrap_or_default();
        // It takes connections before that, and refuses them.
        while !log().contains("ready to accept connections") {
            assert!(Instant::now() < until, "the server does not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        PostgresProcess { folder, _keeper: keeper }
    }
}

impl PostgresProcess {
    pub fn start() -> Option<Self> {
        Some(Made::new()?.start(5432, &[]))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user={USER}", self.folder.display())
    }
}
