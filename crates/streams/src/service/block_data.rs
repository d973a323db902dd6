//! One block, matched on request: answered, or sent to a stream's webhook. Nothing of it is kept.

use std::sync::Arc;

use bytes::Bytes;
use model::chain::ChainId;
use store::{Event, EventKind, ReaderCursor, StreamId};

use super::load::plan;
use super::{StreamError, Streams};
use crate::definition::read_block_query;
use crate::engine::enrich;
use crate::matching::{
    BlockMatch, Items, MatchQuery, Parts, Slot, StreamIndex, StreamPlan, match_block,
};
use crate::payload::{self, PayloadHead};
use crate::uuid::uuid_text;

const THE_SLOT: Slot = 0;

impl Streams {
    /// The webhook that these settings would produce.
    pub async fn block_data(
        &self,
        _tenant: &str,
        chain: ChainId,
        number: u64,
        body: &[u8],
    ) -> Result<Bytes, StreamError> {
        let (mut definition, addresses) = read_block_query(body)?;
        definition.chain_ids = vec![chain.hex()];
        let plan = plan(StreamId::ZERO, &definition)?;
        let mut index = StreamIndex::new();
        index.put(THE_SLOT, plan.clone());
        index.add_addresses(THE_SLOT, addresses);
        self.payload_of(chain, number, Wanted::Alone(&index, plan)).await
    }

    /// With what the stream is now; it has no number, and is tried once.
    pub async fn block_to_webhook(
        &self,
        tenant: &str,
        chain: ChainId,
        number: u64,
        id: StreamId,
    ) -> Result<(), StreamError> {
        let plan = self.with(tenant, id, |entry| entry.plan.clone())?;
        let body = self.payload_of(chain, number, Wanted::Stream(plan)).await?;
        Ok(self.inner.deliverer.post_once(id, body).await?)
    }

    async fn payload_of(
        &self,
        chain: ChainId,
        number: u64,
        wanted: Wanted<'_>,
    ) -> Result<Bytes, StreamError> {
        let context = &self.inner.context;
        let Some(served) = context.chains.get(&chain) else {
            return Err(self.not_served(&format!("{:#x}", chain.0)));
        };
        let view = context.store.view().await?;
        let Some((block, _)) = view.whole_block(chain, number).await? else {
            let why = format!("block {number} of {} is not indexed here", served.chain.slug);
            return Err(StreamError::BadRequest(why));
        };
        let confirmations = served.chain.confirmations;
        let confirmed = view.coverage(chain).await?.has_on_top(number, confirmations);
        drop(view);
        let plan = wanted.plan().clone();
        let mut matches = self.matches(chain, &block, &wanted);
        let hash = block.header.hash.unwrap_or_default();
        let cursor = ReaderCursor { seq: 0, start: number, next: number };
        let event = Event { kind: EventKind::Apply, number, hash, cursor };
        enrich(context, chain, &event, &mut matches).await;
        let none = Items::default();
        let items = matches.first().map_or(&none, |found| &found.items);
        let head = PayloadHead {
            confirmed,
            retracted: false,
            chain,
            stream: if plan.id.is_zero() { String::new() } else { uuid_text(&plan.id) },
            tag: plan.definition.tag.clone(),
            abi: &plan.definition.abi,
            number,
            hash,
            timestamp: block.header.timestamp.unwrap_or_default(),
        };
        let parts = payload::write_parts(&head, items, usize::MAX);
        Ok(parts.into_iter().next().map(|(_, body)| body).unwrap_or_default())
    }

    fn matches(
        &self,
        chain: ChainId,
        block: &model::raw::Block,
        wanted: &Wanted<'_>,
    ) -> Vec<BlockMatch> {
        let context = &self.inner.context;
        let spam = &context.spam;
        let parts = Parts::ALL;
        match wanted {
            Wanted::Alone(index, _) => {
                let only = |_| true;
                match_block(MatchQuery { index, chain, block, spam, only: &only, parts })
            }
            Wanted::Stream(plan) => {
                let registry = context.registry.read();
                let slot = registry.slot(plan.id);
                let only = |it| Some(it) == slot;
                let index = &registry.index;
                match_block(MatchQuery { index, chain, block, spam, only: &only, parts })
            }
        }
    }
}

/// What a block is matched against.
enum Wanted<'a> {
    Alone(&'a StreamIndex, Arc<StreamPlan>),
    Stream(Arc<StreamPlan>),
}

impl Wanted<'_> {
    fn plan(&self) -> &Arc<StreamPlan> {
        match self {
            Wanted::Alone(_, plan) | Wanted::Stream(plan) => plan,
        }
    }
}
