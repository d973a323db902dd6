//! The process, under the names that every Prometheus client library uses. What /proc does not tell is left out.

use std::time::UNIX_EPOCH;

use super::exposition::{Exposition, Metric};
use crate::app::App;

const STARTED: Metric = ("process_start_time_seconds", "When the server started.");
const RESIDENT: Metric = ("process_resident_memory_bytes", "Memory that the process has.");
const CPU: Metric = ("process_cpu_seconds_total", "Time that processors spent on the process.");
const OPEN_FDS: Metric = ("process_open_fds", "Open files and sockets.");
const MAX_FDS: Metric = ("process_max_fds", "How many files and sockets may be open.");
const BUILD: Metric = ("headwater_build_info", "1; the version is in its label.");

/// In which /proc counts processor time, on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

pub fn look(app: &App, out: &mut Exposition) {
    out.gauge(BUILD, &[("version", app.parts.version)], 1.0);
    if let Ok(started) = app.started.duration_since(UNIX_EPOCH) {
        out.gauge(STARTED, &[], started.as_secs_f64());
    }
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).ok();
    if let Some(bytes) = read("status").as_deref().and_then(resident_bytes) {
        out.gauge(RESIDENT, &[], bytes);
    }
    if let Some(seconds) = read("stat").as_deref().and_then(cpu_seconds) {
        out.counter(CPU, &[], seconds);
    }
    if let Some(max) = read("limits").as_deref().and_then(files_max) {
        out.gauge(MAX_FDS, &[], max);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        out.gauge(OPEN_FDS, &[], open.count() as f64);
    }
}

fn resident_bytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

/// The program's name comes first, in brackets, and may hold anything.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SECOND)
}

fn files_max(limits: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says_is_read() {
        assert_eq!(resident_bytes("Name:\tx\nVmRSS:\t   1234 kB\n"), Some(1_263_616.0));
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 100";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files   1024  4096  files\n";
        assert_eq!(files_max(limits), Some(1024.0));
        assert_eq!(files_max("Max open files unlimited unlimited files"), None);
        assert_eq!((resident_bytes(""), cpu_seconds("")), (None, None));
    }
}
