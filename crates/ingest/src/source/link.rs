//! Hashes without bodies: for finding a common ancestor, and for holding a node to its word about
//! which block follows which.

use alloy_primitives::B256;
use rpc::{Call, Needs, UpstreamId};

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
#[derive(Clone, Copy)]
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

#[derive(serde::Deserialize)]
struct LinkFields<'a> {
    hash: &'a str,
    #[serde(rename = "parentHash")]
    parent: &'a str,
}
