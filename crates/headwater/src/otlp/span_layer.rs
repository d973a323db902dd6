//! Gathers spans of the target `otlp` and hands each over when it ends.
//!
//! Fields are attributes, but for those whose names `tracing-opentelemetry` uses, too: `otel.name`, `otel.kind`,
//! `otel.error`; and `traceparent`, what a caller said.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use model::printable;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::export::SpanQueue;
use super::span::{ATTRIBUTES_MAX, Kind, Span, TEXT_CHARS_MAX, Value};
use super::trace_context::{TraceContext, TraceParent};

pub struct SpanLayer {
    queue: SpanQueue,
    sample_ratio: f64,
}

/// Kept beside a span while it lasts. None: its trace is not recorded.
struct Gathered(Option<Span>);

impl SpanLayer {
    pub fn new(queue: SpanQueue, sample_ratio: f64) -> Self {
        SpanLayer { queue, sample_ratio }
    }

    /// By the parent, else by the caller, else by lot.
    fn context(
        &self,
        parent: Option<TraceContext>,
        caller: Option<TraceParent>,
    ) -> Option<TraceContext> {
        let span_id = rand::random::<u64>().max(1).to_be_bytes();
        let of = |trace_id, parent_id| TraceContext { trace_id, span_id, parent_id };
        match (parent, caller) {
            (Some(parent), _) => Some(of(parent.trace_id, parent.span_id)),
            (None, Some(caller)) => caller.is_sampled.then(|| of(caller.trace_id, caller.span_id)),
            (None, None) => {
                let is_drawn = rand::random::<f64>() < self.sample_ratio;
                is_drawn.then(|| of(rand::random::<u128>().max(1).to_be_bytes(), [0; 8]))
            }
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let above = span.parent().map(|above| {
            let extensions = above.extensions();
            extensions.get::<Gathered>().and_then(|it| it.0.as_ref().map(|span| span.context))
        });
        let decided = match above {
            // What is below a span that is not recorded is not, either.
            Some(None) => None,
            Some(parent) => self.context(parent, None),
            None => self.context(None, fields.caller),
        };
        let start_ns = now_ns();
        let gathered = decided.map(|context| {
            let name = attributes.metadata().name().to_owned();
            let (kind, attributes) = (Kind::Internal, Vec::new());
            let mut span =
                Span { context, name, kind, is_error: false, start_ns, end_ns: 0, attributes };
            fields.add_to(&mut span);
            span
        });
        span.extensions_mut().insert(Gathered(gathered));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        values.record(&mut fields);
        let mut extensions = span.extensions_mut();
        if let Some(gathered) = extensions.get_mut::<Gathered>().and_then(|it| it.0.as_mut()) {
            fields.add_to(gathered);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let gathered = span.extensions_mut().remove::<Gathered>();
        if let Some(mut span) = gathered.and_then(|it| it.0) {
            span.end_ns = now_ns();
            self.queue.push(span);
        }
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[derive(Default)]
struct Fields {
    attributes: Vec<(&'static str, Value)>,
    name: Option<String>,
    kind: Option<Kind>,
    is_error: bool,
    caller: Option<TraceParent>,
}

impl Fields {
    fn add_to(self, span: &mut Span) {
        let room = ATTRIBUTES_MAX.saturating_sub(span.attributes.len());
        span.attributes.extend(self.attributes.into_iter().take(room));
        span.name = self.name.unwrap_or_else(|| std::mem::take(&mut span.name));
        span.kind = self.kind.unwrap_or(span.kind);
        span.is_error |= self.is_error;
    }

    fn text(&mut self, field: &Field, text: &str) {
        match field.name() {
            "otel.name" => self.name = Some(printable(text, TEXT_CHARS_MAX)),
            "otel.kind" => self.kind = Some(Kind::of(text)),
            "traceparent" => self.caller = TraceParent::read(text),
            name => self.attributes.push((name, Value::Text(printable(text, TEXT_CHARS_MAX)))),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "otel.error" => self.is_error = value,
            name => self.attributes.push((name, Value::Bool(value))),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.attributes.push((field.name(), Value::Int(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_i64(field, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }
}
