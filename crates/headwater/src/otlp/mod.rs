//! Traces for OpenTelemetry, where `telemetry.otlp_url` says where to: spans under the target `otlp`, from whichever
//! crate, are gathered, packed as protobuf and sent by HTTP. Off, such spans cost nothing.
//!
//! Whatever the receiver does, nobody waits for it: spans that find no room are dropped and counted.

mod encode;
mod export;
mod span;
mod span_layer;
mod trace_context;

pub use export::{Exporter, traces_url};
pub use span_layer::SpanLayer;

/// The target of spans that are exported. Logs leave them out.
pub const TARGET: &str = "otlp";
