//! Logs and metrics of the process.

use std::fmt::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use model::printable;
use tasks::{TaskBoard, endless};
use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Log, LogFormat, Settings, Telemetry};
use crate::log_writer::LogWriter;
use crate::metric_help;
use crate::otlp::{self, Exporter, SpanLayer};

/// What is shown of one field. An error with all its causes fits.
const FIELD_CHARS_MAX: usize = 2_000;

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogWriter;
    fn make_writer(&'a self) -> LogWriter {
        *self
    }
}

/// The filter of the configuration, checked: a level, and levels of modules. Filters by span are not taken: they would bring a
/// regex engine into the build.
pub fn filter(log: &Log) -> Result<Targets> {
    log.filter
        .parse::<Targets>()
        .with_context(|| format!("log.filter '{}' is not a filter", printable(&log.filter, 80)))
}

pub fn logs(log: &Log) -> Result<()> {
    subscribe(log, None)
}

/// Logs, and traces where the configuration says where to: their exporter is then to be started.
pub fn logs_and_traces(settings: &Settings) -> Result<Option<Exporter>> {
    let Telemetry { otlp_url, service_name, sample_ratio } = &settings.telemetry;
    if otlp_url.is_empty() {
        return logs(&settings.log).map(|()| None);
    }
    let (exporter, queue) = Exporter::new(otlp_url, service_name)?;
    subscribe(&settings.log, Some(SpanLayer::new(queue, *sample_ratio)))?;
    Ok(Some(exporter))
}

fn subscribe(log: &Log, spans: Option<SpanLayer>) -> Result<()> {
    let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
    // Spans for traces are no part of a log line.
    let filter = filter(log)?.with_target(otlp::TARGET, LevelFilter::OFF);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(LogWriter)
        // It would say so on stderr, and stop where that is closed.
        .log_internal_errors(false)
        .with_ansi(color);
    let lines = match log.format {
        LogFormat::Text => lines.fmt_fields(debug_fn(write_field).delimited(" ")).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let is_span = filter_fn(|metadata| metadata.is_span() && metadata.target() == otlp::TARGET);
    let all = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(spans.map(|spans| spans.with_filter(is_span)));
    // A second start in one process (tests) keeps the first subscriber.
    let _ = all.try_init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("no text");
        tracing::error!(place, what, "a task panicked");
    }));
    Ok(())
}

/// Fields hold what strangers sent: a method's name, a node's words. No value can end the line or speak
/// to the terminal, whoever logs it.
fn write_field(
    out: &mut Writer<'_>,
    field: &tracing::field::Field,
    value: &dyn fmt::Debug,
) -> fmt::Result {
    let mut text = String::new();
    write!(text, "{value:?}")?;
    let shown = printable(&text, FIELD_CHARS_MAX);
    if field.name() == "message" { write!(out, "{shown}") } else { write!(out, "{field}={shown}") }
}

/// Histogram bounds in seconds: from a kept answer to a node that is about to time out.
const SECONDS: [f64; 12] =
    [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 20.0];

/// Every time that was measured is held until it is counted.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// What a process counts, and the tasks that are watched. There is one recorder for a process, so this is made once,
/// before anything that counts is started.
#[derive(Clone)]
pub struct Metrics {
    pub tasks: TaskBoard,
    pub prometheus: PrometheusHandle,
}

impl Metrics {
    /// Must be called inside a runtime.
    pub fn start() -> Result<Self> {
        let recorder = PrometheusBuilder::new()
            .set_buckets(&SECONDS)
            .context("histogram bounds")?
            .build_recorder();
        let (tasks, prometheus) = (TaskBoard::default(), recorder.handle());
        let _ = metrics::set_global_recorder(recorder);
        metric_help::describe();
        let (kept, counted) = (tasks.clone(), prometheus.clone());
        tokio::spawn(async move {
            let start = || endless(keep_up(UPKEEP_EVERY, || counted.run_upkeep()));
            kept.keep_running("counting of metrics", || false, start).await;
        });
        Ok(Metrics { tasks, prometheus })
    }
}

/// The library counts only when it is asked for the figures, and perhaps nobody ever asks.
async fn keep_up(every: Duration, upkeep: impl Fn()) {
    loop {
        tokio::time::sleep(every).await;
        upkeep();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn resident_bytes() -> u64 {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    }

    /// Ten million of them take 80 MB where they are held until somebody asks.
    #[tokio::test]
    async fn times_that_nobody_asks_for_take_no_memory() {
        let recorder = PrometheusBuilder::new().set_buckets(&SECONDS).unwrap().build_recorder();
        let (handle, (runs, mut ran)) = (recorder.handle(), tokio::sync::watch::channel(0));
        let upkeep = move || {
            handle.run_upkeep();
            runs.send_modify(|runs| *runs += 1);
        };
        tokio::spawn(keep_up(Duration::from_millis(1), upkeep));
        let times = metrics::with_local_recorder(&recorder, || metrics::histogram!("times"));
        let before = resident_bytes();
        for _ in 0..100 {
            (0..100_000).for_each(|_| times.record(0.1));
            ran.mark_unchanged();
            ran.changed().await.unwrap();
        }
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 40_000_000, "{grown} bytes");
        assert!(recorder.handle().render().contains("times_count 10000000"));
    }

    #[test]
    fn what_a_stranger_sent_stays_on_its_line() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .fmt_fields(debug_fn(write_field).delimited(" "))
            .finish();
        let method = "eth_x\n2026-01-01T00:00:00Z  INFO forged\u{1b}[2J";
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(%method, text = method, chain.id = 1, "a call {method}");
        });
        let log = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(!log.contains('\u{1b}') && log.contains("eth_x\\n2026"), "{log}");
        assert!(log.contains("chain.id=1"), "{log}");
    }
}
