//! What an operator may set about the console.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConsoleConfig {
    /// Whether it is served at all.
    pub enabled: bool,
    /// How long a login lasts after the last request.
    pub session_s: u64,
    /// Logins at once; past it the one that was used longest ago ends.
    pub sessions_max: usize,
    /// Pages that are told of new blocks at once; further ones ask from time to time.
    pub events_max: usize,
}

impl Default for ConsoleConfig {
    fn default() -> Self {
        ConsoleConfig { enabled: true, session_s: 43_200, sessions_max: 1_000, events_max: 1_000 }
    }
}

impl ConsoleConfig {
    /// What no console could run with.
    pub fn check(&self) -> Result<(), String> {
        let numbers = [
            ("session_s", self.session_s),
            ("sessions_max", self.sessions_max as u64),
            ("events_max", self.events_max as u64),
        ];
        match numbers.into_iter().find(|(_, value)| *value == 0) {
            Some((name, _)) => Err(format!("console.{name} (0) must be at least 1")),
            None => Ok(()),
        }
    }
}
