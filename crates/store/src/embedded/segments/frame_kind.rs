//! What a frame holds.

use super::kind::Kind;

const TXS_AND_LOGS: u8 = 3;

/// Logs repeat much of their transactions (addresses, amounts, words of the input), and in one frame with them that is packed
/// away (docs/adr/0019). Traces stand alone: most questions do not need them, and they are the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// Rows of one kind. Before format 7 those of transactions and of logs, too.
    Of(Kind),
    /// A group's transactions, then its logs.
    TxsAndLogs,
}

impl FrameKind {
    /// Those of new bodies, in the order in which they lie.
    pub const WRITTEN: [FrameKind; 2] = [FrameKind::TxsAndLogs, FrameKind::Of(Kind::Traces)];

    pub fn code(self) -> u8 {
        match self {
            FrameKind::Of(kind) => kind.code(),
            FrameKind::TxsAndLogs => TXS_AND_LOGS,
        }
    }

    pub fn of_code(code: u8) -> Option<Self> {
        match code {
            TXS_AND_LOGS => Some(FrameKind::TxsAndLogs),
            code => Kind::of_code(code).map(FrameKind::Of),
        }
    }

    pub fn has(self, kind: Kind) -> bool {
        match self {
            FrameKind::Of(own) => own == kind,
            FrameKind::TxsAndLogs => matches!(kind, Kind::Txs | Kind::Logs),
        }
    }

    /// What stands for each group, in this order.
    pub fn kinds(self) -> impl Iterator<Item = Kind> + Clone {
        Kind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }

    /// The kind that speaks for it where there are three places: no body has both sorts of frames with transactions.
    pub fn lead(self) -> Kind {
        match self {
            FrameKind::Of(kind) => kind,
            FrameKind::TxsAndLogs => Kind::Txs,
        }
    }
}
