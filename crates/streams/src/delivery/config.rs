//! What an operator may set about sending.

use crate::target::Network;

#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryConfig {
    /// Seconds between attempts: after the first, the second … After the last one a delivery is given up.
    pub retry_s: Vec<u64>,
    /// From looking up the name to the answer.
    pub timeout_ms: u64,
    /// Requests under way at once, over all receivers.
    pub connections_max: usize,
    /// Of them to one receiver (host and port).
    pub connections_per_host_max: usize,
    /// Requests begun per second to one receiver; 0 is no limit.
    pub requests_per_second_per_host: f64,
    /// Bytes of payloads that are in memory to be sent. One receiver gets an eighth of them at most.
    pub bytes_in_flight_max: u64,
    /// Networks that webhooks may go to although they are not public.
    pub allow_private_targets: Vec<Network>,
}

impl Default for DeliveryConfig {
    fn default() -> Self {
        DeliveryConfig {
            retry_s: vec![60, 600, 3_600, 7_200, 21_600, 43_200, 86_400],
            timeout_ms: 20_000,
            connections_max: 1_024,
            connections_per_host_max: 32,
            requests_per_second_per_host: 0.0,
            bytes_in_flight_max: 512 << 20,
            allow_private_targets: Vec::new(),
        }
    }
}

impl DeliveryConfig {
    /// Says what makes no sense, with the setting's name.
    pub fn check(&self) -> Result<(), String> {
        for (name, value) in [
            ("timeout_ms", self.timeout_ms),
            ("connections_max", self.connections_max as u64),
            ("connections_per_host_max", self.connections_per_host_max as u64),
            ("bytes_in_flight_max", self.bytes_in_flight_max),
        ] {
            if value == 0 {
                return Err(format!("streams.{name} must be at least 1"));
            }
        }
        let rate = self.requests_per_second_per_host;
        if !rate.is_finite() || rate < 0.0 {
            return Err(format!(
                "streams.requests_per_second_per_host ({rate}) must be 0, which is no limit, or more"
            ));
        }
        match self.retry_s.iter().find(|seconds| **seconds > RETRY_S_MAX) {
            Some(long) => {
                Err(format!("streams.retry_s ({long}) must be at most {RETRY_S_MAX}, 30 days"))
            }
            None => Ok(()),
        }
    }
}

const RETRY_S_MAX: u64 = 30 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        assert_eq!(DeliveryConfig::default().check(), Ok(()));
        for (config, says) in [
            (DeliveryConfig { timeout_ms: 0, ..Default::default() }, "streams.timeout_ms"),
            (
                DeliveryConfig { connections_max: 0, ..Default::default() },
                "streams.connections_max",
            ),
            (
                DeliveryConfig { requests_per_second_per_host: -1.0, ..Default::default() },
                "streams.requests_per_second_per_host (-1)",
            ),
            (
                DeliveryConfig { retry_s: vec![1, u64::MAX], ..Default::default() },
                "streams.retry_s",
            ),
        ] {
            let error = config.check().unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
