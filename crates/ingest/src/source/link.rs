//! Hashes without bodies: for finding a common ancestor, and for holding a node to its word about
//! which block follows which.

use alloy_primitives::B256;
use model::raw::Block;
use rpc::{Call, CallResult, Lane, Needs, UpstreamId};

use super::node::NodeSource;
use crate::error::Error;
use crate::verify::Lie;

/// A block and the one below it do not hang together.
pub(super) const PARENT_LINK: &str = "parent link";
/// Two contradictions in a row are no accident.
const TRIALS: usize = 2;

/// A block's hash and its parent's, as one node tells them; not verified.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct BlockLink {
    pub hash: B256,
    pub parent: B256,
}

/// A block that is believed, with the parent it names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Child {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
}

impl NodeSource {
    /// The blocks' links as this node, and no other, tells them.
    pub(crate) async fn links(
        &self,
        upstream: UpstreamId,
        numbers: &[u64],
    ) -> Result<Vec<BlockLink>, Error> {
        let others = self.pool.others(upstream);
        let calls = numbers.iter().map(|number| Call::block_by_number(*number, false)).collect();
        let needs = Needs { block: numbers.iter().max().copied(), ..Needs::default() };
        let fetch = rpc::Fetch { calls, not: &others, needs, lane: self.lane };
        let fetched = self.pool.fetch(fetch).await?;
        let mut links = Vec::with_capacity(numbers.len());
        for (number, answer) in numbers.iter().zip(fetched.answers) {
            let text = answer.ok().and_then(|answer| {
                let fields: LinkFields = answer.parse().ok()?;
                Some(BlockLink {
                    hash: fields.hash.parse().ok()?,
                    parent: fields.parent.parse().ok()?,
                })
            });
            links.push(text.ok_or(Error::NotThere { number: *number })?);
        }
        Ok(links)
    }

    /// The block that this node calls finalized; not verified. None where it has no such notion.
    pub(crate) async fn finalized(&self, upstream: UpstreamId) -> Option<(u64, B256)> {
        let others = self.pool.others(upstream);
        let (calls, needs) = (vec![Call::finalized_block()], Needs::default());
        let fetch = rpc::Fetch { calls, not: &others, needs, lane: Lane::History };
        let answer = self.pool.fetch(fetch).await.ok()?.answers.into_iter().next()?.ok()?;
        let header = bare_block(answer.json())?;
        Some((header.number, header.hash))
    }

    /// What a node says is the parent of a believed block: it is by a hash that was recomputed wherever
    /// the form of its header is known. A node whose numbers do not fit what was verified is asked once
    /// more, and then reported.
    pub(crate) async fn verified_parent(
        &self,
        upstream: UpstreamId,
        child: Child,
        header: &Block,
    ) -> Result<Child, Error> {
        let Block { number, hash, parent_hash, .. } = *header;
        if number.checked_add(1) != Some(child.number) || hash != child.parent_hash {
            self.check_parent_link(upstream, child).await?;
            return Err(Error::Moved { number: child.number });
        }
        self.pipeline.verify_header(header).map_err(|lie| self.report(upstream, lie))?;
        Ok(Child { number, hash, parent_hash })
    }

    /// Whether this node knows the block by its hash.
    pub(crate) async fn knows(&self, upstream: UpstreamId, block: Child) -> Result<bool, Error> {
        let others = self.pool.others(upstream);
        let calls = vec![Call::block_by_hash(&block.hash, false)];
        let fetch = rpc::Fetch { lane: self.lane, calls, not: &others, needs: Needs::default() };
        let fetched = self.pool.fetch(fetch).await?;
        let header = fetched.answers.into_iter().next().and_then(Result::ok);
        let header = header.and_then(|answer| bare_block(answer.json()));
        Ok(header.is_some_and(|it| it.hash == block.hash && it.number == block.number))
    }

    /// The blocks without their transactions, as this node, and no other, tells them; not verified.
    pub(crate) async fn headers(
        &self,
        upstream: UpstreamId,
        numbers: &[u64],
    ) -> Result<Vec<Block>, Error> {
        let others = self.pool.others(upstream);
        let calls = numbers.iter().map(|number| Call::block_by_number(*number, false)).collect();
        let needs = Needs { block: numbers.iter().max().copied(), ..Needs::default() };
        let fetched =
            self.pool.fetch(rpc::Fetch { lane: self.lane, calls, not: &others, needs }).await?;
        let read = |(number, answer): (&u64, CallResult)| {
            let block = answer.ok().and_then(|answer| bare_block(answer.json()));
            block.ok_or(Error::NotThere { number: *number })
        };
        numbers.iter().zip(fetched.answers).map(read).collect()
    }

    /// Fine when the node has this block, and its parent below it. A node whose own blocks do not
    /// hang together, asked for both at once, is reported; one that is on another branch is not.
    pub(crate) async fn check_parent_link(
        &self,
        upstream: UpstreamId,
        child: Child,
    ) -> Result<(), Error> {
        let Child { number, hash, parent_hash } = child;
        let Some(below) = number.checked_sub(1) else { return Ok(()) };
        let mut last = Error::Moved { number };
        for trial in 0..TRIALS {
            let links = self.links(upstream, &[below, number]).await?;
            let [parent, told] = links.as_slice() else { return Err(last) };
            let knows_child = told.hash == hash;
            if knows_child && parent.hash == parent_hash {
                return Ok(());
            }
            if !knows_child && told.parent == parent.hash {
                return Err(Error::Moved { number });
            }
            if trial + 1 == TRIALS {
                let named = if knows_child { parent_hash } else { told.parent };
                let (expected, got) = (parent.hash.to_string(), named.to_string());
                last =
                    self.report(upstream, Lie { block: number, check: PARENT_LINK, expected, got });
            }
        }
        Err(last)
    }
}

/// Without transactions, which are told by their hashes only.
fn bare_block(text: &[u8]) -> Option<Block> {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(text).ok()?;
    fields.insert("transactions".to_owned(), serde_json::Value::Array(Vec::new()));
    Block::read(&serde_json::to_vec(&fields).ok()?).ok().flatten()
}

#[derive(serde::Deserialize)]
struct LinkFields<'a> {
    hash: &'a str,
    #[serde(rename = "parentHash")]
    parent: &'a str,
}
