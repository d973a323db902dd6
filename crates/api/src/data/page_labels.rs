//! Names of the addresses on a page: the operator's, else those of tokens that are known.

use std::sync::Arc;

use alloy_primitives::Address;
use alloy_primitives::map::AddressHashMap;
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
    /// `wallet` stands in nearly every row: it is looked for once.
    pub async fn read(
        app: &'a App,
        (view, known): (&View, KnownTokens),
        (chain, wallet): (&Chain, Address),
        txs: &[Arc<StoredTx>],
    ) -> Result<PageLabels<'a>, store::Error> {
        let mut labels = PageLabels { operator: &app.parts.labels, tokens: Default::default() };
        let mut last = None;
        for tx in txs {
            for address in [tx.tx.from, tx.tx.to].into_iter().flatten() {
                if address == wallet || last.replace(address) == Some(address) {
                    continue;
                }
                labels.add(app, (view, known), (chain, address)).await?;
            }
        }
        labels.add(app, (view, known), (chain, wallet)).await?;
        Ok(labels)
    }

    async fn add(
        &mut self,
        app: &App,
        (view, known): (&View, KnownTokens),
        (chain, address): (&Chain, Address),
    ) -> Result<(), store::Error> {
        if self.label(&address).is_some() {
            return Ok(());
        }
        if let Some(label) = app.tokens.label(view, chain, address, known).await? {
            self.tokens.insert(address, label);
        }
        Ok(())
    }

    pub fn of_operator(&self, address: &Address) -> Option<&Label> {
        self.operator.get(address)
    }

    pub fn label(&self, address: &Address) -> Option<&str> {
        let own = self.of_operator(address).and_then(|it| it.label.as_deref());
        own.or_else(|| self.tokens.get(address).map(String::as_str))
    }
}
