//! The two wire profiles, and which one an answer takes.

use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};

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
    /// An unknown profile is as good as none: the header is ours and asks for nothing dangerous.
    pub fn choose(headers: &HeaderMap, configured: Profile) -> Profile {
        let asked = headers.get(PROFILE_HEADER).and_then(|v| v.to_str().ok()).map(str::trim);
        match asked {
            Some(name) if name.eq_ignore_ascii_case("spec") => Profile::Spec,
            Some(name) if name.eq_ignore_ascii_case("live") => Profile::Live,
            _ if headers.contains_key(PLATFORM_HEADER) => Profile::Live,
            _ => configured,
        }
    }
}
