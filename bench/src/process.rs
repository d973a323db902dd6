//! Child processes: started, watched, measured, and ended with the benchmark.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

pub struct Process {
    child: Child,
}

/// What a process used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub cpu_s: f64,
    pub peak_mib: f64,
}

impl Process {
    pub fn start(command: &mut Command) -> Result<Self> {
        let shown = format!("{command:?}");
        let child = command.stdin(Stdio::null()).spawn().with_context(|| shown)?;
        Ok(Process { child })
    }

    /// Reads /proc, so only while it lives, and only on Linux.
    pub fn usage(&self) -> Usage {
        let id = self.child.id();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let field = |i: usize| {
            after_name.split(' ').nth(i).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0)
        };
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let peak =
            peak.and_then(|t| t.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0);
        Usage { cpu_s: (field(11) + field(12)) / 100.0, peak_mib: peak / 1024.0 }
    }

    /// Processor seconds of each of its threads, by name.
    pub fn threads(&self) -> Vec<(String, f64)> {
        let folder = format!("/proc/{}/task", self.child.id());
        let tasks = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let stats = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
        let thread = |stat: String| {
            let (front, rest) = stat.rsplit_once(") ")?;
            let name = front.split_once('(')?.1.to_owned();
            let ticks = |i: usize| rest.split(' ').nth(i).and_then(|text| text.parse::<f64>().ok());
            Some((name, (ticks(11)? + ticks(12)?) / 100.0))
        };
        stats.filter_map(thread).collect()
    }

    /// By its name, without SIG.
    pub fn signal(&self, name: &str) -> Result<()> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status()?;
        anyhow::ensure!(sent.success(), "SIG{name} could not be sent");
        Ok(())
    }

    /// SIGTERM, then wait.
    pub fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").arg(&id).status();
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running `headwater serve`.
pub struct Server {
    pub process: Process,
    pub url: String,
}

pub const KEY: &str = "bench-key-0123456789abcdef";

pub async fn serve(
    binary: &Path,
    data: &Path,
    arguments: &[String],
    variables: &[(&str, &str)],
) -> Result<Server> {
    start(Command::new(binary), data, arguments, variables).await
}

/// Under a limit of open files, as the shell's `ulimit` takes it.
pub async fn serve_under(
    file_limit: &str,
    binary: &Path,
    data: &Path,
    arguments: &[String],
    variables: &[(&str, &str)],
) -> Result<Server> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit {file_limit} && exec \"$0\" \"$@\"")).arg(binary);
    start(command, data, arguments, variables).await
}

/// Memory that a server holds now.
pub fn resident_mib(server: &Server) -> f64 {
    resident_mib_of(&server.process.child.id().to_string())
}

/// By process number, or `self`.
pub fn resident_mib_of(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

async fn start(
    mut command: Command,
    data: &Path,
    arguments: &[String],
    variables: &[(&str, &str)],
) -> Result<Server> {
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    command.arg("serve").arg("--data").arg(data).arg("--listen").arg(&address).args(arguments);
    command.env("HEADWATER__AUTH__BOOTSTRAP_KEY", KEY).env("HEADWATER__LOG__FILTER", "error");
    command.env("HEADWATER__LISTEN__DRAIN_NOTICE_MS", "0");
    // Stores that a benchmark made hold facts of no block's logs: reading them anew would find none.
    command.env("HEADWATER__INGEST__REDECODE", "off");
    command.envs(variables.iter().copied()).stdout(Stdio::null());
    let process = Process::start(&mut command)?;
    let url = format!("http://{address}");
    wait_for(&url).await?;
    Ok(Server { process, url })
}

pub async fn wait_for(url: &str) -> Result<()> {
    let client = reqwest::Client::new();
    for _ in 0..600 {
        if client.get(format!("{url}/health/live")).send().await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("{url} did not come up")
}

pub fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

pub fn folder_bytes(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => folder_bytes(&entry.path()),
            // Blocks on disk, since logs are made large ahead of time and filled later.
            Ok(meta) => std::os::unix::fs::MetadataExt::blocks(&meta) * 512,
            Err(_) => 0,
        })
        .sum()
}
