//! Appends journal entries, and removes those that every reader has passed.

use model::chain::ChainId;

use super::ChainWrite;
use crate::Error;
use crate::journal::Entry;
use crate::postgres::numbers::{sql, u64_at};
use crate::postgres::read::Param;
use crate::postgres::read::readers::{kind_name, origin_name};
use crate::postgres::store::Store;

const ADD: &str = "insert into journal (chain, seq, kind, origin, number, hash) \
     select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bytea[])";
const SLOWEST: &str = "select min(seq) from readers where chain = $1";
const PRUNE: &str = "delete from journal where chain = $1 and seq between $2 and $3";

impl Store {
    /// They change no block. Says which sequence the newest entry had before.
    pub async fn append_journal(&self, chain: ChainId, entries: &[Entry]) -> Result<u64, Error> {
        let mut write = ChainWrite::begin(self, chain).await?;
        let before = write.row.seq;
        let numbered = entries.iter().zip(before + 1..);
        let entries: Vec<Entry> = numbered.map(|(entry, seq)| Entry { seq, ..*entry }).collect();
        write.add_entries(&entries).await?;
        write.finish().await?;
        Ok(before)
    }
}

impl ChainWrite<'_> {
    pub async fn add_entries(&mut self, entries: &[Entry]) -> Result<(), Error> {
        let seqs: Vec<i64> = entries.iter().map(|entry| sql(entry.seq)).collect();
        let kinds: Vec<&str> = entries.iter().map(|entry| kind_name(entry.kind)).collect();
        let origins: Vec<&str> = entries.iter().map(|entry| origin_name(entry.origin)).collect();
        let numbers: Vec<i64> = entries.iter().map(|entry| sql(entry.number)).collect();
        let hashes: Vec<&[u8]> = entries.iter().map(|entry| entry.hash.as_slice()).collect();
        let params: [Param; 6] = [&self.id(), &seqs, &kinds, &origins, &numbers, &hashes];
        self.connection.execute(ADD, &params).await?;
        let known = self.row.seq;
        self.row.seq = entries.last().map_or(known, |entry| entry.seq);
        self.prune_journal(known, entries.len() as u64).await
    }

    /// A few with each commit. What this one writes stays until the next.
    async fn prune_journal(&mut self, known: u64, entries: u64) -> Result<(), Error> {
        let row = self.connection.first(SLOWEST, &[&self.id()]).await?;
        let slowest = row.and_then(|row| row.get::<_, Option<i64>>(0).map(|_| u64_at(&row, 0)));
        let keep = self.row.seq.saturating_sub(self.store().inner.journal_entries_min);
        let last = slowest.unwrap_or(keep).min(keep).min(known);
        let tail = self.row.journal_tail;
        let upto = last.min(tail.saturating_add(2 * entries + 64));
        if upto < tail {
            return Ok(());
        }
        self.connection.execute(PRUNE, &[&self.id(), &sql(tail), &sql(upto)]).await?;
        self.row.journal_tail = upto + 1;
        Ok(())
    }
}
