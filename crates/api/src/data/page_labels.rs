//! Names of the addresses on a page: the operator's, else those of tokens that are known.

use std::sync::Arc;

use alloy_primitives::Address;
use alloy_primitives::map::{AddressHashMap, AddressHashSet};
use model::chain::Chain;
use store::{StoredTx, View};

use crate::app::App;
use crate::labels::{Label, Labels};
use crate::tokens::KnownTokens;

pub struct PageLabels<'a> {
    operator: &'a Labels,
    /// "Name (SYMBOL)" of those that are tokens that we know.
    tokens: AddressHashMap<String>,
}

impl<'a> PageLabels<'a> {
    pub async fn read(
        app: &'a App,
        (view, known): (&View, KnownTokens),
        chain: &Chain,
        txs: &[Arc<StoredTx>],
    ) -> Result<PageLabels<'a>, store::Error> {
        let operator = &app.parts.labels;
        let is_labelled = |it: &Address| operator.get(it).is_some_and(|it| it.label.is_some());
        let all = txs.iter().flat_map(|tx| [tx.tx.from, tx.tx.to]).flatten();
        let mut unlabelled = AddressHashSet::default();
        unlabelled.reserve(txs.len());
        unlabelled.extend(all.filter(|it| !is_labelled(it)));
        let mut tokens = AddressHashMap::default();
        for address in unlabelled {
            if let Some(label) = app.tokens.label(view, chain, address, known).await? {
                tokens.insert(address, label);
            }
        }
        Ok(PageLabels { operator, tokens })
    }

    pub fn of_operator(&self, address: &Address) -> Option<&Label> {
        self.operator.get(address)
    }

    pub fn label(&self, address: &Address) -> Option<&str> {
        let own = self.of_operator(address).and_then(|it| it.label.as_deref());
        own.or_else(|| self.tokens.get(address).map(String::as_str))
    }
}
