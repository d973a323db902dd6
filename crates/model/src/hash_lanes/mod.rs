//! Hashes of many messages side by side.
//!
//! One message alone cannot use a processor's wide registers, since every block of it needs the one before.
//! Eight messages can: each has a lane of its own, and a lane whose message is done takes the next. The code
//! is plain; what instructions it becomes is chosen when it runs, by what the processor has.

mod keccak;
mod sha256;

use alloy_primitives::B256;
use fearless_simd::Level;

pub use keccak::keccak_all;
pub use sha256::sha256_all;

const LANES: usize = 8;
/// Below this, hashing one after the other is quicker.
const WORTH_IT: usize = 3;

/// A hash function over all lanes, which takes in a block of each message at once.
trait LaneHash<const BLOCK: usize> {
    const EMPTY: Self;

    /// A new message begins in the lane.
    fn clear(&mut self, lane: usize);

    fn put(&mut self, lane: usize, block: &[u8; BLOCK]);

    /// Puts the end of a message with its padding. What still has to follow, if anything has.
    fn put_end(&mut self, lane: usize, end: End<'_>) -> Option<End<'static>>;

    /// Works in what was put into the lanes. Lanes into which nothing was put may hold anything afterwards.
    fn mix(&mut self, level: Level);

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
    Message { rest: &'a [u8], bytes: u64 },
    End(End<'static>),
    Nothing,
}

impl Lane<'_> {
    /// Takes in the next block.
    fn put_next<const BLOCK: usize>(&mut self, lane: usize, hash: &mut impl LaneHash<BLOCK>) {
        let end = match self.left {
            Left::Message { rest, bytes } => match rest.split_first_chunk::<BLOCK>() {
                Some((block, rest)) => {
                    hash.put(lane, block);
                    self.left = Left::Message { rest, bytes };
                    return;
                }
                None => hash.put_end(lane, End { rest, bytes, is_put: false }),
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
fn hash_all<H: LaneHash<BLOCK>, const BLOCK: usize>(messages: &[impl AsRef<[u8]>]) -> Vec<B256> {
    let mut hashes = vec![B256::ZERO; messages.len()];
    let mut waiting: Vec<(usize, &[u8])> = messages.iter().map(AsRef::as_ref).enumerate().collect();
    // The longest first (they are taken from the end), so that all lanes are busy to the last.
    waiting.sort_unstable_by_key(|(_, message)| message.len() / BLOCK);
    let mut hash = H::EMPTY;
    let mut lanes: [Option<Lane<'_>>; LANES] = std::array::from_fn(|_| None);
    let level = Level::new();
    loop {
        let mut busy = false;
        for (i, lane) in lanes.iter_mut().enumerate() {
            if lane.is_none()
                && let Some((place, rest)) = waiting.pop()
            {
                hash.clear(i);
                *lane =
                    Some(Lane { place, left: Left::Message { rest, bytes: rest.len() as u64 } });
            }
            if let Some(lane) = lane {
                lane.put_next(i, &mut hash);
                busy = true;
            }
        }
        if !busy {
            return hashes;
        }
        hash.mix(level);
        for (i, lane) in lanes.iter_mut().enumerate() {
            if let Some(done) = lane.take_if(|lane| lane.is_done())
                && let Some(made) = hashes.get_mut(done.place)
            {
                *made = hash.hash(i);
            }
        }
    }
}
