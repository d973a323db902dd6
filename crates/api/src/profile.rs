//! The two wire profiles, and which one an answer takes.

use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The interface's tables: exact JSON integers.
    Spec,
    /// The live service and its SDKs: decimal strings.
    Live,
}

pub const PROFILE_HEADER: &str = "x-wire-profile";
/// Sent by the official SDKs.
pub const PLATFORM_HEADER: &str = "x-moralis-platform";
/// An answer depends on both.
pub const VARY: &str = "X-Wire-Profile, X-Moralis-Platform";

impl Profile {
    /// A word that is no profile is refused: whoever asks for one of them would read the other one wrong.
    pub fn choose(headers: &HeaderMap, configured: Profile) -> Result<Profile, ApiError> {
        let Some(asked) = headers.get(PROFILE_HEADER) else {
            let is_sdk = headers.contains_key(PLATFORM_HEADER);
            return Ok(if is_sdk { Profile::Live } else { configured });
        };
        match asked.to_str().unwrap_or("(unreadable)").trim() {
            name if name.eq_ignore_ascii_case("spec") => Ok(Profile::Spec),
            name if name.eq_ignore_ascii_case("live") => Ok(Profile::Live),
            name => Err(ApiError::bad_value("X-Wire-Profile", name, "is neither spec nor live")),
        }
    }
}
