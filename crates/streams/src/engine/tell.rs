//! What is told of a block when it is seen, confirmed, reverted or completed.

use alloy_primitives::B256;
use model::raw::Block;
use store::{
    DeliveryKind, DeliveryMeta, Error, Event, EventKind, KeptMatch, NewDelivery, NewMatch,
    ReaderCursor, StreamId,
};

use super::enrich;
use super::step::{Members, Step};
use crate::clock;
use crate::matching::{BlockMatch, Parts};
use crate::payload::{self, PayloadHead};
use crate::uuid::uuid_text;

impl Step<'_> {
    pub(super) async fn apply(&mut self, event: &Event) -> Result<(), Error> {
        if !self.has_members() {
            return Ok(());
        }
        let found = self.state.reader.block_if(event.number, event.hash).await?;
        // Gone by now: a later event says so.
        let Some((block, _)) = found else { return Ok(()) };
        let mut matches = self.matches(&block, Parts::ALL);
        if matches.is_empty() {
            return Ok(());
        }
        enrich::enrich(self.context, self.chain, event, &mut matches).await;
        let is_confirmed = self.is_confirmed(event.number).await?;
        for found in &matches {
            self.deliver(found, event, BlockState { block: &block, is_confirmed });
        }
        Ok(())
    }

    async fn is_confirmed(&self, number: u64) -> Result<bool, Error> {
        let coverage = self.context.store.view().await?.coverage(self.chain).await?;
        Ok(coverage.has_on_top(number, self.context.confirmations(self.chain)))
    }

    fn deliver(&mut self, found: &BlockMatch, event: &Event, at: BlockState<'_>) {
        let definition = &found.plan.definition;
        let traces_missing = definition.include_internal_txs && !is_traced(at.block);
        let parts = self.parts(found, event, &at);
        let first = self.change.deliveries.len();
        let is_sent = at.is_confirmed || definition.include_unconfirmed;
        if is_sent {
            let kind =
                if at.is_confirmed { DeliveryKind::Confirmed } else { DeliveryKind::Unconfirmed };
            self.push(found.plan.id, &parts, Told { event, kind, traces_missing, amends: None });
        }
        if !at.is_confirmed {
            self.touch(event.number);
            self.change.keep.push(NewMatch {
                stream: found.plan.id,
                number: event.number,
                hash: event.hash,
                traces_missing,
                first_delivery: is_sent.then_some(first),
                first_seq: None,
                parts,
            });
        } else if traces_missing {
            self.change.keep.push(self.marker(found.plan.id, event, first));
        }
    }

    /// Nothing is to be confirmed any more, but traces may still come.
    fn marker(&self, stream: StreamId, event: &Event, first: usize) -> NewMatch {
        NewMatch {
            stream,
            number: event.number,
            hash: event.hash,
            traces_missing: true,
            first_delivery: Some(first),
            first_seq: None,
            parts: Vec::new(),
        }
    }

    fn parts(
        &mut self,
        found: &BlockMatch,
        event: &Event,
        at: &BlockState<'_>,
    ) -> Vec<(store::RecordCounts, bytes::Bytes)> {
        let definition = &found.plan.definition;
        let head = PayloadHead {
            confirmed: at.is_confirmed,
            retracted: false,
            chain: self.chain,
            stream: uuid_text(&found.plan.id),
            tag: definition.tag.clone(),
            abi: &definition.abi,
            number: event.number,
            hash: event.hash,
            timestamp: at.block.header.timestamp.unwrap_or_default(),
        };
        payload::write_parts(&head, &found.items, self.context.config.payload_bytes_max)
    }

    fn push(
        &mut self,
        stream: StreamId,
        parts: &[(store::RecordCounts, bytes::Bytes)],
        told: Told<'_>,
    ) {
        let all = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let created_ms = clock::now_ms();
        for (part, (counts, body)) in (1u32..).zip(parts) {
            self.bytes += body.len();
            let meta = DeliveryMeta {
                chain: self.chain,
                number: told.event.number,
                hash: told.event.hash,
                kind: told.kind,
                part: (part, all),
                traces_missing: told.traces_missing,
                amends: told.amends,
                counts: *counts,
                created_ms,
            };
            self.change.deliveries.push(NewDelivery { stream, meta, body: body.clone() });
        }
    }

    /// Blocks that have enough on top of them now that `number` was seen.
    pub(super) async fn confirm(&mut self, number: u64) -> Result<(), Error> {
        let Some(up_to) = number.checked_sub(self.context.confirmations(self.chain)) else {
            return Ok(());
        };
        let one = match self.members {
            Members::One(id) => Some(id),
            Members::Class(_) => None,
        };
        let blocks = self.state.confirmed_below..=up_to;
        // What is kept has bodies: it is read only where somebody here may be concerned.
        if blocks.is_empty() || !self.has_members() {
            return Ok(());
        }
        let kept = self.context.store.kept_matches(self.chain, blocks, one).await?;
        let view = self.context.store.view().await?;
        let mut stored: Option<(u64, Option<B256>)> = None;
        for kept in kept {
            if stored.is_none_or(|(number, _)| number != kept.number) {
                let summary = view.block_summary(self.chain, kept.number).await?;
                stored = Some((kept.number, summary.map(|it| it.hash)));
            }
            self.confirm_one(kept, stored.and_then(|(_, hash)| hash));
        }
        self.state.confirmed_below = up_to.saturating_add(1);
        Ok(())
    }

    /// `stored` is the block that is on the chain at its height.
    fn confirm_one(&mut self, kept: KeptMatch, stored: Option<B256>) {
        if kept.parts.is_empty() || !self.is_member(kept.stream) {
            return;
        }
        let event = event_of(&kept);
        // A stream that changed readers may have passed over the event that told of it.
        if stored != Some(kept.hash) {
            return self.drop_match(kept);
        }
        let bodies: Vec<_> =
            kept.parts.iter().map(|(counts, body)| (*counts, payload::confirmed(body))).collect();
        let first = self.change.deliveries.len();
        let KeptMatch { stream, traces_missing, .. } = kept;
        let told =
            Told { event: &event, kind: DeliveryKind::Confirmed, traces_missing, amends: None };
        self.push(stream, &bodies, told);
        if traces_missing {
            self.change.keep.push(self.marker(stream, &event, first));
        } else {
            self.change.remove.push((kept.number, stream));
        }
    }

    pub(super) async fn revert(&mut self, event: &Event) -> Result<(), Error> {
        self.state.confirmed_below = self.state.confirmed_below.min(event.number);
        if !self.has_members() {
            return Ok(());
        }
        for kept in self.kept_at(event.number).await? {
            if kept.hash == event.hash && self.is_member(kept.stream) {
                self.drop_match(kept);
            }
        }
        self.touch(event.number);
        Ok(())
    }

    /// The block is no longer on the chain: it is never confirmed.
    fn drop_match(&mut self, kept: KeptMatch) {
        self.change.remove.push((kept.number, kept.stream));
        let wants = self.context.registry.read().get(kept.stream).is_some_and(|entry| {
            entry.record.definition.include_retractions && kept.first_seq.is_some()
        });
        if wants && !kept.parts.is_empty() {
            let event = event_of(&kept);
            let bodies: Vec<_> = kept
                .parts
                .iter()
                .map(|(counts, body)| (*counts, payload::retracted(body)))
                .collect();
            let told = Told {
                event: &event,
                kind: DeliveryKind::Retracted,
                traces_missing: kept.traces_missing,
                amends: kept.first_seq,
            };
            self.push(kept.stream, &bodies, told);
        }
    }

    /// A block that was matched without traces has them now: what they add is sent.
    pub(super) async fn amend(&mut self, event: &Event) -> Result<(), Error> {
        if !self.wants_traces() {
            return Ok(());
        }
        let found = self.state.reader.block_if(event.number, event.hash).await?;
        let Some((block, _)) = found.filter(|(block, _)| is_traced(block)) else {
            return Ok(());
        };
        let mut matches = self.matches(&block, Parts::INTERNALS_ONLY);
        enrich::enrich(self.context, self.chain, event, &mut matches).await;
        let is_confirmed = self.is_confirmed(event.number).await?;
        let mut kept = self.kept_at(event.number).await?;
        kept.retain(|kept| kept.hash == event.hash && self.is_member(kept.stream));
        self.touch(event.number);
        for found in &matches {
            let place = kept.iter().position(|it| it.stream == found.plan.id);
            let known = place.map(|place| kept.swap_remove(place));
            if known.as_ref().is_some_and(|it| !it.traces_missing) {
                continue;
            }
            self.amend_one(found, event, known, BlockState { block: &block, is_confirmed });
        }
        kept.into_iter().filter(|it| it.traces_missing).for_each(|it| self.stop_waiting(it));
        Ok(())
    }

    async fn kept_at(&self, number: u64) -> Result<Vec<KeptMatch>, Error> {
        self.context.store.kept_matches(self.chain, number..=number, None).await
    }

    /// The traces came and add nothing.
    fn stop_waiting(&mut self, kept: KeptMatch) {
        let KeptMatch { stream, number, hash, first_seq, parts, .. } = kept;
        if parts.is_empty() {
            self.change.remove.push((number, stream));
            return;
        }
        self.change.keep.push(NewMatch {
            stream,
            number,
            hash,
            traces_missing: false,
            first_delivery: None,
            first_seq,
            parts,
        });
    }

    fn amend_one(
        &mut self,
        found: &BlockMatch,
        event: &Event,
        known: Option<KeptMatch>,
        at: BlockState<'_>,
    ) {
        let stream = found.plan.id;
        let parts = self.parts(found, event, &at);
        let amends = known.as_ref().and_then(|it| it.first_seq);
        let is_sent = at.is_confirmed || found.plan.definition.include_unconfirmed;
        let kind =
            if at.is_confirmed { DeliveryKind::Confirmed } else { DeliveryKind::Unconfirmed };
        let first = self.change.deliveries.len();
        if is_sent {
            self.push(stream, &parts, Told { event, kind, traces_missing: false, amends });
        }
        if at.is_confirmed {
            self.change.remove.push((event.number, stream));
            return;
        }
        // When it is confirmed, all of it is.
        let before = known.map(|it| it.parts).unwrap_or_default();
        self.change.keep.push(NewMatch {
            stream,
            number: event.number,
            hash: event.hash,
            traces_missing: false,
            first_delivery: (amends.is_none() && is_sent).then_some(first),
            first_seq: amends,
            parts: [before, parts].concat(),
        });
    }
}

/// The block of a match as it stands when it is told of.
struct BlockState<'a> {
    block: &'a Block,
    is_confirmed: bool,
}

/// What is said of a block beside its items.
struct Told<'a> {
    event: &'a Event,
    kind: DeliveryKind,
    traces_missing: bool,
    amends: Option<u64>,
}

fn event_of(kept: &KeptMatch) -> Event {
    let cursor = ReaderCursor { seq: 0, start: 0, next: 0 };
    Event { kind: EventKind::Apply, number: kept.number, hash: kept.hash, cursor }
}

/// A block without transactions has nothing to trace.
fn is_traced(block: &Block) -> bool {
    block.traces.is_some() || block.txs.is_empty()
}
