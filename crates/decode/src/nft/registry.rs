//! Every decoder there is. A new one is a file and a line here.

use alloy_primitives::B256;

use super::sale::Sale;
use super::scene::Scene;
use super::{blur_v1, blur_v2, looksrare_v1, looksrare_v2, seaport, wyvern, x2y2, zerox};

/// How one kind of exchange contract tells of sales.
pub struct Protocol {
    /// Unlike all others in the list.
    pub name: &'static str,
    /// How chains/*.toml calls it.
    pub protocol: &'static str,
    pub versions: &'static [&'static str],
    /// The events that it reads.
    pub topics: &'static [B256],
    pub read: fn(&Scene, &mut Vec<Sale>),
}

/// In the order in which they claim transfers. Wyvern's event does not name the token, so it takes
/// what the others leave.
pub const PROTOCOLS: &[Protocol] = &[
    seaport::PROTOCOL,
    blur_v1::PROTOCOL,
    blur_v2::PROTOCOL,
    looksrare_v1::PROTOCOL,
    looksrare_v2::PROTOCOL,
    x2y2::PROTOCOL,
    zerox::PROTOCOL,
    wyvern::PROTOCOL,
];

pub fn find(protocol: &str, version: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|it| it.protocol == protocol && it.versions.contains(&version))
}
