//! Hashes of many messages side by side.
//!
//! One message alone cannot use a processor's wide registers, since every block of it needs the one before.
//! Eight messages can, or sixteen: each has a lane of its own, and a lane whose message is done takes the next. What
//! instructions the code becomes is chosen when it runs, by what the processor has.

mod keccak;
#[cfg(target_arch = "x86_64")]
mod keccak_wide;
mod sha256;
#[cfg(target_arch = "x86_64")]
mod sha256_wide;

use alloy_primitives::B256;

pub use keccak::{keccak_all, keccak_all_with};
pub use sha256::{has_sha256_instructions, sha256_all};

/// Below this, hashing one after the other is quicker.
const WORTH_IT: usize = 3;

/// A hash function over all lanes, which takes in a block of each message at once.
trait LaneHash<const BLOCK: usize, const LANES: usize> {
    const EMPTY: Self;

    /// A new message begins in the lane.
    fn clear(&mut self, lane: usize);

    fn put(&mut self, lane: usize, block: &[u8; BLOCK]);

    /// Puts the end of a message with its padding. What still has to follow, if anything has.
    fn put_end(&mut self, lane: usize, end: End<'_>) -> Option<End<'static>>;

    /// Works in what was put into the lanes. Lanes into which nothing was put may hold anything afterwards.
    fn mix(&mut self);

    fn hash(&self, lane: usize) -> B256;
}

/// What is left of a message once it fills no block.
#[derive(Clone, Copy)]
struct End<'a> {
    rest: &'a [u8],
    /// Of the whole message.
    bytes: u64,
    /// The rest was put; only its length is missing.
    is_put: bool,
}

/// A message on its way: where its hash belongs, and what is left of it.
struct Lane<'a> {
    place: usize,
    left: Left<'a>,
}

enum Left<'a> {
    Message { of: Message<'a>, bytes: u64 },
    End(End<'static>),
    Nothing,
}

/// In pieces, so that one which consists of two need not be copied together.
#[derive(Clone, Copy, Default)]
struct Message<'a> {
    /// Whole blocks, and so are the next.
    front: &'a [u8],
    blocks: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Message<'a> {
    fn of(message: &'a [u8]) -> Self {
        Message { rest: message, ..Message::default() }
    }

    fn len(&self) -> usize {
        self.front.len() + self.blocks.len() + self.rest.len()
    }

    fn take_block<const BLOCK: usize>(&mut self) -> Option<&'a [u8; BLOCK]> {
        let parts = [&mut self.front, &mut self.blocks];
        let part = parts.into_iter().find(|part| !part.is_empty()).unwrap_or(&mut self.rest);
        let (block, left) = part.split_first_chunk::<BLOCK>()?;
        *part = left;
        Some(block)
    }
}

impl Lane<'_> {
    /// Takes in the next block.
    fn put_next<const BLOCK: usize, const LANES: usize>(
        &mut self,
        lane: usize,
        hash: &mut impl LaneHash<BLOCK, LANES>,
    ) {
        let end = match self.left {
            Left::Message { mut of, bytes } => match of.take_block::<BLOCK>() {
                Some(block) => {
                    hash.put(lane, block);
                    self.left = Left::Message { of, bytes };
                    return;
                }
                None => hash.put_end(lane, End { rest: of.rest, bytes, is_put: false }),
            },
            Left::End(end) => hash.put_end(lane, end),
            Left::Nothing => None,
        };
        self.left = end.map_or(Left::Nothing, Left::End);
    }

    fn is_done(&self) -> bool {
        matches!(self.left, Left::Nothing)
    }
}

/// The hashes, in the order of the messages.
fn hash_all<'a, H: LaneHash<BLOCK, LANES>, const BLOCK: usize, const LANES: usize>(
    messages: impl ExactSizeIterator<Item = Message<'a>>,
) -> Vec<B256> {
    let mut hashes = vec![B256::ZERO; messages.len()];
    let mut waiting: Vec<(usize, Message<'_>)> = messages.enumerate().collect();
    // The longest first (they are taken from the end), so that all lanes are busy to the last.
    waiting.sort_unstable_by_key(|(_, message)| message.len() / BLOCK);
    let mut hash = H::EMPTY;
    let mut lanes: [Option<Lane<'_>>; LANES] = std::array::from_fn(|_| None);
    loop {
        let mut busy = false;
        for (i, lane) in lanes.iter_mut().enumerate() {
            if lane.is_none()
                && let Some((place, of)) = waiting.pop()
            {
                hash.clear(i);
                let bytes = of.len() as u64;
                *lane = Some(Lane { place, left: Left::Message { of, bytes } });
            }
            if let Some(lane) = lane {
                lane.put_next(i, &mut hash);
                busy = true;
            }
        }
        if !busy {
            return hashes;
        }
        hash.mix();
        for (i, lane) in lanes.iter_mut().enumerate() {
            if let Some(done) = lane.take_if(|lane| lane.is_done())
                && let Some(made) = hashes.get_mut(done.place)
            {
                *made = hash.hash(i);
            }
        }
    }
}
