//! Events of one chain that wait to be told together. A chain that is being caught up with writes hundreds of blocks a
//! second; hundreds of pages that are told of each of them would cost more than writing them.

use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};

use super::live::message;
use super::live_chain::RECENT;

/// The shortest time between two messages.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait where nothing is there to be told.
const IDLE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Outbox {
    /// One after the other, as they are sent.
    text: Vec<u8>,
    events: usize,
    /// When something was told last.
    told: Option<Instant>,
}

impl Outbox {
    pub fn put(&mut self, name: &str, chain: &str, block: &Value) {
        self.events += 1;
        if self.is_too_much() {
            self.text = Vec::new();
        } else {
            let event = message(name, &json!({ "chain": chain, "block": block }));
            self.text.extend_from_slice(&event);
        }
    }

    fn is_too_much(&self) -> bool {
        self.events > RECENT
    }

    fn until_due(&self) -> Duration {
        self.told.map_or(Duration::ZERO, |told| PAUSE.saturating_sub(told.elapsed()))
    }

    /// A block that comes alone is told at once.
    pub fn is_due(&self) -> bool {
        self.events > 0 && self.until_due().is_zero()
    }

    /// How long nothing is to be done unless something happens.
    pub fn patience(&self) -> Duration {
        if self.events > 0 { self.until_due() } else { IDLE }
    }

    /// None where it was too much to be told one by one.
    pub fn take(&mut self) -> Option<Bytes> {
        let is_too_much = self.is_too_much();
        self.events = 0;
        self.told = Some(Instant::now());
        let text = std::mem::take(&mut self.text);
        (!is_too_much).then(|| text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_what_follows_together_and_too_much_not_at_all() {
        let mut outbox = Outbox::default();
        assert!(!outbox.is_due() && outbox.patience() == IDLE);
        outbox.put("apply", "sim", &json!({ "number": 1 }));
        assert!(outbox.is_due());
        let first = outbox.take().unwrap();
        assert!(first.starts_with(b"event: apply\ndata: {") && first.ends_with(b"\n\n"));
        for number in 2..=3 {
            outbox.put("apply", "sim", &json!({ "number": number }));
            assert!(outbox.patience() <= PAUSE);
        }
        let text = String::from_utf8(outbox.take().unwrap().to_vec()).unwrap();
        assert_eq!(text.matches("event: apply\n").count(), 2, "{text}");
        for number in 0..=RECENT {
            outbox.put("apply", "sim", &json!({ "number": number }));
        }
        assert_eq!(outbox.take(), None);
        assert!(!outbox.is_due());
    }
}
