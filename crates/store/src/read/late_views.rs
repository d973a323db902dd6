//! Views of several databases, each taken when something is first asked of it: whoever asks about one chain waits for no
//! other's database, and is not refused where another's is away.

use std::collections::BTreeMap;
use std::pin::Pin;

use model::chain::ChainId;
use tokio::sync::OnceCell;

use super::EngineView;
use crate::Error;
use crate::engine::Engine;

pub(crate) type Opened<'a> =
    Pin<Box<dyn Future<Output = Result<&'a EngineView, Error>> + Send + 'a>>;

pub(crate) struct LateViews {
    main: LateView,
    placed: BTreeMap<ChainId, LateView>,
}

struct LateView {
    engine: Engine,
    view: OnceCell<EngineView>,
}

impl LateViews {
    pub fn new(main: &Engine, placed: impl Iterator<Item = (ChainId, Engine)>) -> Self {
        let placed = placed.map(|(chain, engine)| (chain, LateView::new(engine)));
        LateViews { main: LateView::new(main.clone()), placed: placed.collect() }
    }

    pub fn of(&self, chain: ChainId) -> Opened<'_> {
        self.placed.get(&chain).unwrap_or(&self.main).open()
    }

    pub fn main(&self) -> Opened<'_> {
        self.main.open()
    }

    pub fn placed(&self) -> Vec<ChainId> {
        self.placed.keys().copied().collect()
    }
}

impl LateView {
    fn new(engine: Engine) -> Self {
        LateView { engine, view: OnceCell::new() }
    }

    fn open(&self) -> Opened<'_> {
        Box::pin(self.view.get_or_try_init(|| self.engine.view()))
    }
}
