//! `headwater` as a child process.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

pub const KEY: &str = "test-key-0123456789abcdef0123456789abcdef";
const PATIENCE: Duration = Duration::from_secs(120);

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    // What the machine's own environment sets is none of a test's business.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HEADWATER__") {
            command.env_remove(name);
        }
    }
    command.env_remove("MIMALLOC_PURGE_DELAY");
    command.env("HEADWATER__AUTH__BOOTSTRAP_KEY", KEY);
    // No balancer has to be told.
    command.env("HEADWATER__LISTEN__DRAIN_NOTICE_MS", "0");
    command
}

/// Runs a command to its end.
pub fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    command().args(args).output().unwrap()
}

/// Starts a command and kills it as a power cut would, unless it ended before; says which.
pub fn run_killed<S: AsRef<OsStr>>(
    args: impl IntoIterator<Item = S>,
    life: Duration,
) -> Option<ExitStatus> {
    let mut child =
        command().args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(life);
    let ended = child.try_wait().unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    ended
}

/// Runs a command that must succeed, and gives its standard output.
pub fn run_well<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    let output = run(args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}: {out}{err}", output.status);
    out
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Imports files into a data folder and gives the summary line.
pub fn import(data: &Path, chain: &str, files: &[PathBuf]) -> String {
    let args = [
        OsStr::new("import"),
        "--data".as_ref(),
        data.as_ref(),
        "--chain".as_ref(),
        chain.as_ref(),
    ];
    run_well(args.into_iter().chain(files.iter().map(|f| f.as_os_str())))
}

/// `headwater serve`, about to start.
pub struct Serve {
    command: Command,
    stderr: PathBuf,
    listeners: usize,
}

impl Serve {
    /// On a free port of this machine, from this data folder.
    pub fn of(data: &Path) -> Self {
        let mut command = command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        std::fs::create_dir_all(data).unwrap();
        Serve { command, stderr: data.join("test-stderr.log"), listeners: 1 }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// A node to read a chain from.
    pub fn rpc(self, chain: &str, url: &str) -> Self {
        self.arg("--rpc").arg(format!("{chain}={url}"))
    }

    /// A setting by its place, `api.cors` for example.
    pub fn set(mut self, place: &str, value: &str) -> Self {
        let name = format!("HEADWATER__{}", place.replace('.', "__").to_uppercase());
        self.command.env(name, value);
        self
    }

    /// A variable of the environment, by its own name.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// A host with a listener of its own.
    pub fn split(mut self, host: &str) -> Self {
        self.listeners += 1;
        self.set(&format!("listen.{host}"), "127.0.0.1:0")
    }

    /// Under a limit of open files, in the words of the shell: `-n 1024`, `-Sn 1024`.
    pub fn under_file_limit(self, limit: &str) -> Self {
        self.through_shell(&format!("ulimit {limit}"))
    }

    /// Started by a shell that does this before.
    pub fn through_shell(self, before: &str) -> Self {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{before} && exec \"$0\" \"$@\""));
        command.arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Serve { command, ..self }
    }

    pub fn start(self) -> Server {
        let stderr = self.stderr.clone();
        let log = std::fs::OpenOptions::new().create(true).append(true).open(stderr).unwrap();
        self.start_logging_to(log.into())
    }

    pub fn start_logging_to(self, log: Stdio) -> Server {
        let Serve { mut command, stderr, listeners } = self;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let urls = (0..listeners)
            .map(|_| match lines.recv_timeout(PATIENCE) {
                Ok(line) => line.strip_prefix("headwater listens on ").unwrap().to_owned(),
                Err(_) => {
                    let _ = child.kill();
                    panic!("no address: {}", std::fs::read_to_string(&stderr).unwrap())
                }
            })
            .collect();
        Server { child, urls, stderr }
    }
}

impl Serve {
    /// Runs until its log says this, and is ended then; gives the log.
    pub fn runs_until_logged(mut self, text: &str, patience: Duration) -> String {
        let log = std::fs::File::create(&self.stderr).unwrap();
        let mut child = self.command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let began = Instant::now();
        let found = loop {
            let log = std::fs::read_to_string(&self.stderr).unwrap();
            if log.contains(text)
                || began.elapsed() > patience
                || child.try_wait().unwrap().is_some()
            {
                break log;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let _ = child.kill();
        child.wait().unwrap();
        assert!(found.contains(text), "{text:?} is not in the log: {found}");
        found
    }

    /// Starts and is gone before it has said a word, however far it came.
    pub fn killed_after(mut self, life: Duration) {
        let mut child = self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(life);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Lines as they come; the sender's end is the end of the output.
pub fn lines_of(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A running server. Dropping it kills it.
pub struct Server {
    child: Child,
    /// The listener for all, then those of hosts that have their own.
    urls: Vec<String>,
    stderr: PathBuf,
}

impl Server {
    pub fn url(&self) -> &str {
        &self.urls[0]
    }

    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Where a raw client connects to.
    pub fn address(&self) -> &str {
        self.urls[0].strip_prefix("http://").unwrap()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap()
    }

    /// The log once it says this: tasks of their own write to it.
    pub async fn until_logged(&self, text: &str) -> String {
        let asked = Instant::now();
        loop {
            let log = self.log();
            if log.contains(text) {
                return log;
            }
            assert!(
                asked.elapsed() < Duration::from_secs(120),
                "{text:?} is not in the log: {log}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The word to stop; gives how it ended.
    pub fn terminate(self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }

    pub fn signal(&self, name: &str) {
        let (name, pid) = (format!("-{name}"), self.pid().to_string());
        assert!(Command::new("kill").args([name, pid]).status().unwrap().success());
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// As a power cut: nothing is told to the process.
    pub fn kill_nine(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
