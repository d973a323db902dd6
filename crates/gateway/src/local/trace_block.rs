//! `debug_traceBlockByHash`, `debug_traceBlockByNumber` with callTracer, and `trace_block`: as the node wrote them from which
//! the block's traces are, where they can be written so again. All else is a node's business.

use model::raw::TraceForm;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let is_trace_block = call.method.name == "trace_block";
    let count = if is_trace_block { 1 } else { 2 };
    let Ok(params) = Params::read(call.params, count) else { return Ok(LocalAnswer::AskNode) };
    if !is_trace_block && !is_call_tracer(params.raw(1)) {
        return Ok(LocalAnswer::AskNode);
    }
    let view = call.view().await?;
    let NamedBlock::Stored(number) = call.named(&view, &params).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let Some(summary) = view.block_summary(call.chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    // Of rewards, of which trace_block may tell, nothing is stored.
    if summary.tx_count == 0 && !is_trace_block {
        return Ok(LocalAnswer::Known(b"[]".to_vec()));
    }
    let form = TraceForm::of(summary.proof);
    if form.is_none_or(|form| form.is_trace_block() != is_trace_block) {
        return Ok(LocalAnswer::AskNode);
    }
    let block = view.whole_block(call.chain, number).await?;
    let json = block.and_then(|(block, _)| block.write_traces());
    Ok(json.map_or(LocalAnswer::AskNode, |json| LocalAnswer::Known(json.into())))
}

/// What a client may say beside the tracer's name without asking for another answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tracer<'a> {
    #[serde(borrow)]
    tracer: &'a str,
    #[serde(default)]
    tracer_config: CallTracerConfig,
    #[serde(default, rename = "timeout")]
    _timeout: IgnoredAny,
    #[serde(default, rename = "reexec")]
    _reexec: IgnoredAny,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct CallTracerConfig {
    only_top_call: bool,
    with_log: bool,
}

fn is_call_tracer(options: &RawValue) -> bool {
    serde_json::from_str::<Tracer>(options.get()).is_ok_and(|options| {
        let CallTracerConfig { only_top_call, with_log } = options.tracer_config;
        options.tracer == "callTracer" && !only_top_call && !with_log
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_call_tracer_is_answered_here() {
        for (options, is_plain) in [
            (r#"{"tracer":"callTracer"}"#, true),
            (r#"{"tracer":"callTracer","timeout":"30s","reexec":128}"#, true),
            (r#"{"tracer":"callTracer","tracerConfig":{}}"#, true),
            (
                r#"{"tracer":"callTracer","tracerConfig":{"onlyTopCall":false,"withLog":false}}"#,
                true,
            ),
            (r#"{"tracer":"callTracer","tracerConfig":{"onlyTopCall":true}}"#, false),
            (r#"{"tracer":"callTracer","tracerConfig":{"withLog":true}}"#, false),
            (r#"{"tracer":"callTracer","tracerConfig":{"diffMode":true}}"#, false),
            (r#"{"tracer":"callTracer","stateOverrides":{}}"#, false),
            (r#"{"tracer":"prestateTracer"}"#, false),
            (r#"{"tracer":"{result: function() {}}"}"#, false),
            (r#"{}"#, false),
            ("null", false),
            ("5", false),
        ] {
            let raw = RawValue::from_string(options.to_owned()).unwrap();
            assert_eq!(is_call_tracer(&raw), is_plain, "{options}");
        }
    }
}
