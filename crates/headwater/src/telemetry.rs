//! Logs and metrics of the process.

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{Log, LogFormat};
use crate::progress_bar;

/// Logs go to stderr, around a progress bar if there is one.
#[derive(Clone)]
struct AroundBar;

impl std::io::Write for AroundBar {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        progress_bar::suspended(|| std::io::stderr().write(bytes))
    }
    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for AroundBar {
    type Writer = AroundBar;
    fn make_writer(&'a self) -> AroundBar {
        AroundBar
    }
}

pub fn logs(log: &Log) -> Result<()> {
    let filter = EnvFilter::try_new(&log.filter)
        .with_context(|| format!("log.filter '{}' is not a filter", log.filter))?;
    let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(AroundBar).with_ansi(color);
    // A second start in one process (tests) keeps the first subscriber.
    let _ = match log.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    Ok(())
}

/// Histogram bounds in seconds: from a kept answer to a node that is about to time out.
const SECONDS: [f64; 12] =
    [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 20.0];

pub fn metrics() -> Result<PrometheusHandle> {
    let recorder = PrometheusBuilder::new()
        .set_buckets(&SECONDS)
        .context("histogram bounds")?
        .build_recorder();
    let handle = recorder.handle();
    let _ = metrics::set_global_recorder(recorder);
    Ok(handle)
}
