//! The three kinds of rows that a block's body has.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Transactions and their receipts without logs.
    Txs,
    Logs,
    /// Frames below the root.
    Traces,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Txs, Kind::Logs, Kind::Traces];

    pub fn code(self) -> u8 {
        self as u8
    }

    pub fn of_code(code: u8) -> Option<Self> {
        Kind::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The table that had these rows before there were segments. Digests and backups still name it.
    pub fn of_table(name: &str) -> Option<Self> {
        match name {
            "txs" => Some(Kind::Txs),
            "logs" => Some(Kind::Logs),
            "traces" => Some(Kind::Traces),
            _ => None,
        }
    }

    /// The one of three that is of this kind.
    pub fn of<T>(self, [txs, logs, traces]: &[T; 3]) -> &T {
        match self {
            Kind::Txs => txs,
            Kind::Logs => logs,
            Kind::Traces => traces,
        }
    }

    pub fn of_mut<T>(self, [txs, logs, traces]: &mut [T; 3]) -> &mut T {
        match self {
            Kind::Txs => txs,
            Kind::Logs => logs,
            Kind::Traces => traces,
        }
    }
}
