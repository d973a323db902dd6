//! Which rules a simulated chain goes by: what its headers, transactions and receipts have.

use super::draft::Shape;

/// Forks that changed the form of something a node tells, oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fork {
    /// Receipts carry a state root, transactions name no chain.
    Frontier,
    /// Receipts carry a status (EIP-658), transactions may name their chain (EIP-155).
    Byzantium,
    /// Type 1.
    Berlin,
    /// Type 2, base fee.
    London,
    /// Withdrawals.
    Shanghai,
    /// Type 3, blob gas, beacon root.
    Cancun,
    /// Type 4, requests hash.
    #[default]
    Prague,
}

impl Fork {
    pub const ALL: [Fork; 7] = [
        Fork::Frontier,
        Fork::Byzantium,
        Fork::Berlin,
        Fork::London,
        Fork::Shanghai,
        Fork::Cancun,
        Fork::Prague,
    ];

    /// The shape itself, or the newest one below it that the fork has.
    pub(super) fn allowed(self, shape: Shape) -> Shape {
        let since = match shape {
            Shape::LegacyAnyChain => Fork::Frontier,
            Shape::Legacy => Fork::Byzantium,
            Shape::AccessList => Fork::Berlin,
            Shape::DynamicFee => Fork::London,
            Shape::Blob => Fork::Cancun,
            Shape::SetCode => Fork::Prague,
        };
        match shape {
            _ if self >= since => shape,
            Shape::Blob | Shape::SetCode if self >= Fork::London => Shape::DynamicFee,
            _ if self >= Fork::Berlin => Shape::AccessList,
            _ if self >= Fork::Byzantium => Shape::Legacy,
            _ => Shape::LegacyAnyChain,
        }
    }
}
