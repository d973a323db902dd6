//! Keccak-256 of many messages side by side.
//!
//! One message alone cannot use a processor's wide registers, since every round needs the one before.
//! Eight messages can: each has a lane of its own in every word of the state, and a lane whose message
//! is done takes the next. The code is plain; what instructions it becomes is chosen when it runs, by
//! what the processor has.

use alloy_primitives::{B256, keccak256};
use fearless_simd::{Level, Simd, dispatch};

const LANES: usize = 8;
/// Below this, hashing one after the other is quicker.
const WORTH_IT: usize = 3;
/// What a permutation takes in, in words and bytes.
const RATE: usize = 17;
const RATE_BYTES: usize = RATE * 8;

type KeccakState = [[u64; LANES]; 25];

const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// By how much the word at (x, y) is turned, at x + 5y.
const TURNS: [u32; 25] =
    [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14];

/// The hashes, in the order of the messages.
pub fn keccak_all<T: AsRef<[u8]>>(messages: &[T]) -> Vec<B256> {
    if messages.len() < WORTH_IT {
        return messages.iter().map(keccak256).collect();
    }
    let mut hashes = vec![B256::ZERO; messages.len()];
    let mut waiting: Vec<(usize, &[u8])> = messages.iter().map(AsRef::as_ref).enumerate().collect();
    // The longest first (they are taken from the end), so that all lanes are busy to the last.
    waiting.sort_unstable_by_key(|(_, message)| message.len() / RATE_BYTES);
    let mut state: KeccakState = [[0; LANES]; 25];
    let mut lanes: [Option<Lane<'_>>; LANES] = std::array::from_fn(|_| None);
    let level = Level::new();
    loop {
        let mut busy = false;
        for (i, lane) in lanes.iter_mut().enumerate() {
            if lane.is_none()
                && let Some((place, rest)) = waiting.pop()
            {
                clear(&mut state, i);
                *lane = Some(Lane { place, rest: Some(rest) });
            }
            if let Some(lane) = lane {
                lane.absorb(&mut state, i);
                busy = true;
            }
        }
        if !busy {
            return hashes;
        }
        dispatch!(level, simd => permute(simd, &mut state));
        for (i, lane) in lanes.iter_mut().enumerate() {
            if let Some(done) = lane.take_if(|lane| lane.rest.is_none())
                && let Some(hash) = hashes.get_mut(done.place)
            {
                *hash = hash_of(&state, i);
            }
        }
    }
}

/// A message on its way: where its hash belongs, and what is left of it.
struct Lane<'a> {
    place: usize,
    /// None once its end was taken in.
    rest: Option<&'a [u8]>,
}

impl Lane<'_> {
    /// Takes in the next part, the last one with its padding.
    fn absorb(&mut self, state: &mut KeccakState, lane: usize) {
        let Some(rest) = self.rest else { return };
        match rest.split_at_checked(RATE_BYTES) {
            Some((part, rest)) => {
                add(state, lane, part);
                self.rest = Some(rest);
            }
            None => {
                let mut part = [0u8; RATE_BYTES];
                for (to, from) in part.iter_mut().zip(rest.iter().chain(&[1])) {
                    *to = *from;
                }
                if let Some(last) = part.last_mut() {
                    *last |= 0x80;
                }
                add(state, lane, &part);
                self.rest = None;
            }
        }
    }
}

fn add(state: &mut KeccakState, lane: usize, part: &[u8]) {
    let (words, _) = part.as_chunks::<8>();
    for (word, bytes) in state.iter_mut().zip(words) {
        if let Some(word) = word.get_mut(lane) {
            *word ^= u64::from_le_bytes(*bytes);
        }
    }
}

fn clear(state: &mut KeccakState, lane: usize) {
    state.iter_mut().filter_map(|word| word.get_mut(lane)).for_each(|word| *word = 0);
}

fn hash_of(state: &KeccakState, lane: usize) -> B256 {
    let mut hash = B256::ZERO;
    let words = state.iter().filter_map(|word| word.get(lane));
    for (bytes, word) in hash.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    hash
}

#[inline(always)]
fn permute<S: Simd>(simd: S, state: &mut KeccakState) {
    simd.vectorize(
        #[inline(always)]
        || ROUNDS.iter().for_each(|constant| round(state, *constant)),
    );
}

/// Keccak's round for every lane. The loop over lanes is outermost and its body the same for each, so
/// that the compiler makes one wide instruction of all lanes' steps.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "all indices are constants once unrolled")]
#[expect(clippy::needless_range_loop, reason = "a lane is a column of the state, not a row")]
fn round(state: &mut KeccakState, constant: u64) {
    for lane in 0..LANES {
        let mut a = [0; 25];
        for i in 0..25 {
            a[i] = state[i][lane];
        }
        let column = |x: usize| a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        let columns = [column(0), column(1), column(2), column(3), column(4)];
        let mut b = [0; 25];
        for x in 0..5 {
            let parity = columns[(x + 4) % 5] ^ columns[(x + 1) % 5].rotate_left(1);
            for y in 0..5 {
                let turned = (a[x + 5 * y] ^ parity).rotate_left(TURNS[x + 5 * y]);
                b[y + 5 * ((2 * x + 3 * y) % 5)] = turned;
            }
        }
        for y in 0..5 {
            for x in 0..5 {
                let i = x + 5 * y;
                state[i][lane] = b[i] ^ (!b[(x + 1) % 5 + 5 * y] & b[(x + 2) % 5 + 5 * y]);
            }
        }
        state[0][lane] ^= constant;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_around_a_part_hash_as_they_do_alone() {
        let bytes: Vec<u8> = (0..600).map(|i| i as u8).collect();
        let messages: Vec<&[u8]> = (0..600).map(|length| &bytes[..length]).collect();
        let alone: Vec<B256> = messages.iter().map(keccak256).collect();
        assert_eq!(keccak_all(&messages), alone);
    }

    proptest! {
        #[test]
        fn many_hash_as_each_does_alone(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..900), 0..40)
        ) {
            let alone: Vec<B256> = messages.iter().map(keccak256).collect();
            prop_assert_eq!(keccak_all(&messages), alone);
        }
    }
}
