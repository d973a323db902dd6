//! Matches that wait for their block to be confirmed.

use std::ops::RangeInclusive;

use model::chain::ChainId;

use super::batch::StreamBatch;
use super::match_row::MatchRow;
use super::{BROKEN_MATCH, keys};
use crate::Error;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::streams::{DeliveryMeta, KeptMatch, StreamId};

impl Store {
    pub fn kept_matches(
        &self,
        chain: ChainId,
        blocks: RangeInclusive<u64>,
        stream: Option<StreamId>,
    ) -> Result<Vec<KeptMatch>, Error> {
        let view = self.view()?;
        match stream {
            Some(stream) => view.matches_of(stream, chain, blocks),
            None => view.matches_of_all(chain, blocks),
        }
    }
}

impl View {
    fn matches_of(
        &self,
        stream: StreamId,
        chain: ChainId,
        blocks: RangeInclusive<u64>,
    ) -> Result<Vec<KeptMatch>, Error> {
        let mut matches = Vec::new();
        if self.live_queue(stream)?.is_none() {
            return Ok(matches);
        }
        let [first, last] =
            [blocks.start(), blocks.end()].map(|number| keys::a_match(stream, chain, *number));
        for item in self.snapshot.range(&self.tables.stream_matches, first..=last) {
            let (key, row) = item.into_inner()?;
            let (_, _, number) = keys::parts_of_match(&key).ok_or(BROKEN_MATCH)?;
            let row = MatchRow::unpack(&row).ok_or(BROKEN_MATCH)?;
            matches.push(row.into_kept(stream, number));
        }
        Ok(matches)
    }

    fn matches_of_all(
        &self,
        chain: ChainId,
        blocks: RangeInclusive<u64>,
    ) -> Result<Vec<KeptMatch>, Error> {
        let first = keys::match_by_block(chain, *blocks.start(), StreamId::ZERO);
        let last = keys::match_by_block(chain, *blocks.end(), StreamId::repeat_byte(u8::MAX));
        let mut matches = Vec::new();
        for item in self.snapshot.range(&self.tables.stream_matches_by_block, first..=last) {
            let key = item.key()?;
            let (number, stream) = keys::number_and_stream(&key).ok_or(BROKEN_MATCH)?;
            if self.live_queue(stream)?.is_none() {
                continue;
            }
            let key = keys::a_match(stream, chain, number);
            let row = self.snapshot.get(&self.tables.stream_matches, key)?;
            let row = row.and_then(|row| MatchRow::unpack(&row)).ok_or(BROKEN_MATCH)?;
            matches.push(row.into_kept(stream, number));
        }
        Ok(matches)
    }
}

impl StreamBatch<'_> {
    /// Once a delivery is forgotten, nothing can amend it: a match that waits for nothing but traces goes with it.
    pub fn drop_marker(&mut self, stream: StreamId, seq: u64) -> Result<(), Error> {
        let Some(delivery) = self.view.delivery_row(stream, seq)? else { return Ok(()) };
        let DeliveryMeta { chain, number, traces_missing: true, .. } = delivery.meta else {
            return Ok(());
        };
        let t = self.view.tables.clone();
        let key = keys::a_match(stream, chain, number);
        let Some(row) = self.view.snapshot.get(&t.stream_matches, key)? else { return Ok(()) };
        let row = MatchRow::unpack(&row).ok_or(BROKEN_MATCH)?;
        if row.parts.is_empty() && row.first_seq == Some(seq) {
            self.remove(&t.stream_matches, &key);
            self.remove(&t.stream_matches_by_block, &keys::match_by_block(chain, number, stream));
        }
        Ok(())
    }
}
