//! What all settings together let the process take: past that something is wrong, whatever it is.

use crate::config::Settings;

pub fn tell_limit(settings: &Settings) {
    metrics::gauge!("headwater_memory_limit_bytes").set(limit_bytes(settings) as f64);
}

fn limit_bytes(settings: &Settings) -> u64 {
    let Settings { store, api, gateway, rpc, streams, .. } = settings;
    let read_chains = settings.chains.values().filter(|it| !it.upstreams.is_empty()).count() as u64;
    let of_chain = rpc.ingest_bytes_in_flight_max as u64 + rpc.client_bytes_in_flight_max as u64;
    // What the allocator has not given back is about a third more.
    [
        store.memory_bytes.saturating_add(store.memory_bytes / 3),
        api.answer_cache_bytes,
        api.response_bytes_in_flight_max,
        gateway.cache_bytes_max,
        gateway.bytes_in_flight_max as u64,
        streams.bytes_in_flight_max,
        read_chains.saturating_mul(of_chain),
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}
