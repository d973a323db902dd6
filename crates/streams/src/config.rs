//! What an operator may set about streams.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::delivery::DeliveryConfig;
use crate::target::Network;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub streams_per_tenant_max: usize,
    pub addresses_per_stream_max: u64,
    pub payload_bytes_max: usize,
    pub queue_bytes_max: u64,
    pub traces_wait_ms: u64,
    pub call_timeout_ms: u64,
    pub retention_days: u64,
    #[serde(serialize_with = "hidden")]
    pub secret_key: String,
    pub secret_overlap_s: u64,
    pub spam: Vec<PathBuf>,
    pub parity_termination: bool,
    pub retry_s: Vec<u64>,
    pub timeout_ms: u64,
    pub connections_max: usize,
    pub connections_per_host_max: usize,
    pub requests_per_second_per_host: f64,
    pub bytes_in_flight_max: u64,
    pub allow_private_targets: Vec<Network>,
}

impl Default for Config {
    fn default() -> Self {
        let delivery = DeliveryConfig::default();
        Config {
            streams_per_tenant_max: 10_000,
            addresses_per_stream_max: 5_000_000,
            payload_bytes_max: 8 << 20,
            queue_bytes_max: 1 << 30,
            traces_wait_ms: 30_000,
            call_timeout_ms: 5_000,
            retention_days: 7,
            secret_key: String::new(),
            secret_overlap_s: 86_400,
            spam: Vec::new(),
            parity_termination: false,
            retry_s: delivery.retry_s,
            timeout_ms: delivery.timeout_ms,
            connections_max: delivery.connections_max,
            connections_per_host_max: delivery.connections_per_host_max,
            requests_per_second_per_host: delivery.requests_per_second_per_host,
            bytes_in_flight_max: delivery.bytes_in_flight_max,
            allow_private_targets: delivery.allow_private_targets,
        }
    }
}

impl Config {
    /// What sending goes by.
    pub fn delivery(&self) -> DeliveryConfig {
        DeliveryConfig {
            retry_s: self.retry_s.clone(),
            timeout_ms: self.timeout_ms,
            connections_max: self.connections_max,
            connections_per_host_max: self.connections_per_host_max,
            requests_per_second_per_host: self.requests_per_second_per_host,
            bytes_in_flight_max: self.bytes_in_flight_max,
            allow_private_targets: self.allow_private_targets.clone(),
        }
    }

    /// Says what makes no sense, with the setting's name.
    pub fn check(&self) -> Result<(), String> {
        for (name, value) in [
            ("streams_per_tenant_max", self.streams_per_tenant_max as u64),
            ("addresses_per_stream_max", self.addresses_per_stream_max),
            ("payload_bytes_max", self.payload_bytes_max as u64),
            ("queue_bytes_max", self.queue_bytes_max),
            ("call_timeout_ms", self.call_timeout_ms),
        ] {
            if value == 0 {
                return Err(format!("streams.{name} must be at least 1"));
            }
        }
        self.delivery().check()
    }
}

/// A printed configuration tells that there is a secret, not which.
fn hidden<S: serde::Serializer>(secret: &str, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(if secret.is_empty() { "" } else { "(hidden)" })
}
