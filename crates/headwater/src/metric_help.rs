//! What the metrics mean that are counted where things happen. Those that are looked at when somebody scrapes have it
//! beside their names (`api::hosts::metrics`).

use metrics::{describe_counter, describe_gauge, describe_histogram};

const COUNTERS: [(&str, &str); 25] = [
    ("headwater_audits_total", "Balances of accounts held against blocks, by verdict."),
    ("headwater_blocks_amended_total", "Stored blocks that were completed, mostly with traces."),
    ("headwater_blocks_applied_total", "Blocks that were stored."),
    ("headwater_blocks_below_proof_total", "Blocks of which less was proven than is usual."),
    ("headwater_blocks_pruned_total", "Old blocks that were dropped (retain_blocks)."),
    ("headwater_connections_cut_total", "Connections that were closed by the server, by reason."),
    (
        "headwater_connections_shed_total",
        "Connections that were not taken, by the limit that was met.",
    ),
    ("headwater_contract_questions_total", "Questions to contracts for prices, by outcome."),
    ("headwater_heads_not_delivered_total", "Heads that a node announced and did not give."),
    ("headwater_http_requests_total", "Requests answered, by route and status."),
    ("headwater_lies_total", "Contradictions found in nodes' blocks, by check."),
    ("headwater_prices_total", "Token prices told, by where the pools were read."),
    ("headwater_reorgs_total", "Reorganisations of the chain."),
    ("headwater_responses_refused_total", "Large answers refused for want of memory."),
    ("headwater_rpc_answers_total", "JSON-RPC calls answered, by method and where from."),
    ("headwater_spans_dropped_total", "Spans that were not exported, by reason."),
    ("headwater_spans_exported_total", "Spans that were taken by the receiver of traces."),
    ("headwater_store_damage_total", "Requests that met stored data which cannot be read back."),
    ("headwater_streams_attempts_total", "Webhooks sent, by result."),
    ("headwater_trades_decoded_total", "NFT sales read from blocks."),
    ("headwater_trades_unreconciled_total", "NFT sales whose transfers do not bear them out."),
    ("headwater_transactions_applied_total", "Transactions that were stored."),
    ("headwater_unconfirmed_reverts_total", "Deep reverts done on the word of one node."),
    ("headwater_upstream_requests_total", "Requests to nodes, by method and outcome."),
    ("headwater_upstream_response_bytes_total", "Bytes of nodes' answers."),
];

const GAUGES: [(&str, &str); 10] = [
    (
        "headwater_blocks_untraced",
        "Blocks stored without internal transactions; counted up to 1,000.",
    ),
    ("headwater_connections", "Open connections."),
    ("headwater_memory_budget_bytes", "Memory that a part of the server may take."),
    ("headwater_memory_bytes", "Memory that a part of the server takes."),
    ("headwater_memory_limit_bytes", "Memory that all settings together let the process take."),
    ("headwater_store_budget_bytes", "store.disk_budget_bytes."),
    ("headwater_store_budget_used_ratio", "Share of store.disk_budget_bytes that the store takes."),
    ("headwater_streams_queue_bytes", "Bytes of webhooks that wait to be sent."),
    ("headwater_streams_queue_deliveries", "Webhooks that wait to be sent."),
    ("headwater_upstream_concurrency_limit", "Requests that a node is sent at once."),
];

const HISTOGRAMS: [(&str, &str); 4] = [
    ("headwater_contract_question_seconds", "How long questions to contracts took."),
    ("headwater_http_request_seconds", "How long requests took."),
    ("headwater_streams_attempt_seconds", "How long webhook receivers took."),
    ("headwater_upstream_latency_seconds", "How long nodes took."),
];

pub fn describe() {
    COUNTERS.into_iter().for_each(|(name, help)| describe_counter!(name, help));
    GAUGES.into_iter().for_each(|(name, help)| describe_gauge!(name, help));
    HISTOGRAMS.into_iter().for_each(|(name, help)| describe_histogram!(name, help));
}
