//! Camelot: v2 pairs of which some can be switched to the stable curve, so reserves alone do not give
//! the price.

use super::family::{ExchangeKind, Family};
use super::v2;

pub static FAMILY: Family = Family {
    code: 3,
    name: "camelot",
    is_ranged: false,
    is_singleton: false,
    has_stable_curve: true,
    events: v2::EVENTS,
    prove: v2::prove,
    node_calls: Some(v2::NODE_CALLS),
};

impl ExchangeKind {
    pub const CAMELOT: ExchangeKind = ExchangeKind(&FAMILY);
}
