//! Matches that wait for their block to be confirmed.

use model::chain::ChainId;

use super::match_row::MatchRow;
use super::{BROKEN_MATCH, keys};
use crate::Error;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::streams::{KeptMatch, StreamId};

impl Store {
    pub fn kept_matches(
        &self,
        chain: ChainId,
        up_to: u64,
        stream: Option<StreamId>,
    ) -> Result<Vec<KeptMatch>, Error> {
        let view = self.view()?;
        match stream {
            Some(stream) => view.matches_of(stream, chain, up_to),
            None => view.matches_between(chain, 0, up_to),
        }
    }

    pub fn kept_matches_at(&self, chain: ChainId, number: u64) -> Result<Vec<KeptMatch>, Error> {
        self.view()?.matches_between(chain, number, number)
    }
}

impl View {
    fn matches_of(
        &self,
        stream: StreamId,
        chain: ChainId,
        up_to: u64,
    ) -> Result<Vec<KeptMatch>, Error> {
        let mut matches = Vec::new();
        if self.live_queue(stream)?.is_none() {
            return Ok(matches);
        }
        let range = keys::a_match(stream, chain, 0)..=keys::a_match(stream, chain, up_to);
        for item in self.snapshot.range(&self.tables.stream_matches, range) {
            let (key, row) = item.into_inner()?;
            let (_, _, number) = keys::parts_of_match(&key).ok_or(BROKEN_MATCH)?;
            let row = MatchRow::unpack(&row).ok_or(BROKEN_MATCH)?;
            matches.push(row.into_kept(stream, number));
        }
        Ok(matches)
    }

    fn matches_between(
        &self,
        chain: ChainId,
        from: u64,
        up_to: u64,
    ) -> Result<Vec<KeptMatch>, Error> {
        let first = keys::match_by_block(chain, from, StreamId::ZERO);
        let last = keys::match_by_block(chain, up_to, StreamId::repeat_byte(u8::MAX));
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
