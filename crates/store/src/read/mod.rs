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

use crate::{embedded, postgres};

/// A consistent look at everything as it was when the view was taken.
pub struct View {
    pub(crate) engine: EngineView,
}

pub(crate) enum EngineView {
    Embedded(embedded::View),
    Postgres(postgres::View),
}
