//! Questions the store answers, one file each. A `View` sees one moment: a page, its total and its
//! coverage agree.
//!
//! Questions are async because an engine may have to wait for a disk or another machine; how it waits
//! is the engine's business. A view may hold a connection: do not keep one while waiting for a node.

mod blocks;
mod digest;
mod facts;
mod generations;
mod journal;
mod late_views;
mod logs;
mod lowest_trade;
mod pools;
mod readers;
mod time;
mod tokens;
mod trades_page;
mod untraced;
mod wallet_page;
mod wallet_total;

use futures_util::future::{Either, Ready, ready};
use model::chain::ChainId;

pub(crate) use late_views::LateViews;
use late_views::Opened;

use crate::{Error, embedded, postgres};

/// A consistent look at everything as it was when the view was taken. Where chains have databases of their own, each chain is
/// seen as it was when the view was first asked about it.
pub struct View {
    seen: Seen,
}

enum Seen {
    Now(EngineView),
    Late(Box<LateViews>),
}

pub(crate) enum EngineView {
    Embedded(embedded::View),
    Postgres(postgres::View),
}

/// No async function: those are compiled anew in every crate that asks a question.
type EngineOf<'a> = Either<Ready<Result<&'a EngineView, Error>>, Opened<'a>>;

impl View {
    pub(crate) fn now(view: EngineView) -> Self {
        View { seen: Seen::Now(view) }
    }

    pub(crate) fn late(views: LateViews) -> Self {
        View { seen: Seen::Late(Box::new(views)) }
    }

    /// Where the chain's rows are.
    pub(crate) fn of(&self, chain: ChainId) -> EngineOf<'_> {
        match &self.seen {
            Seen::Now(view) => Either::Left(ready(Ok(view))),
            Seen::Late(views) => Either::Right(views.of(chain)),
        }
    }

    /// Where what belongs to no chain is, and where journal readers stand.
    pub(crate) fn main(&self) -> EngineOf<'_> {
        match &self.seen {
            Seen::Now(view) => Either::Left(ready(Ok(view))),
            Seen::Late(views) => Either::Right(views.main()),
        }
    }

    /// Chains that have a database of their own.
    pub(crate) fn placed(&self) -> Vec<ChainId> {
        match &self.seen {
            Seen::Now(_) => Vec::new(),
            Seen::Late(views) => views.placed(),
        }
    }
}
