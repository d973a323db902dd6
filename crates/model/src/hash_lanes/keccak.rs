//! Keccak-256 of many messages.

use alloy_primitives::{B256, Keccak256, keccak256};
use fearless_simd::{Level, Simd, dispatch};

use super::{End, LaneHash, Message, WORTH_IT, hash_all};

const LANES: usize = 8;
/// What a permutation takes in, in bytes.
const RATE_BYTES: usize = 136;

struct Keccak {
    /// Each word has one of every lane.
    state: [[u64; LANES]; 25],
}

pub(super) const ROUNDS: [u64; 24] = [
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
pub(super) const TURNS: [u32; 25] =
    [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14];

/// The hashes, in the order of the messages.
pub fn keccak_all<T: AsRef<[u8]>>(messages: &[T]) -> Vec<B256> {
    if messages.len() < WORTH_IT {
        return messages.iter().map(keccak256).collect();
    }
    hash_all::<Keccak, RATE_BYTES, LANES>(messages.iter().map(|it| Message::of(it.as_ref())))
}

/// The same for messages in two parts, of which the first are not copied.
pub fn keccak_all_with(messages: &[(&[u8], &[u8])]) -> Vec<B256> {
    if messages.len() < WORTH_IT {
        return messages.iter().map(alone).collect();
    }
    let whole = |message: &[u8]| message.len() - message.len() % RATE_BYTES;
    let parts: Vec<_> = messages.iter().map(|(first, _)| first.split_at(whole(first))).collect();
    let rest = |((_, rest), (_, second)): (&(_, &[u8]), &(_, &[u8]))| [*rest, *second].concat();
    let rests: Vec<Vec<u8>> = parts.iter().zip(messages).map(rest).collect();
    let messages = parts.iter().zip(&rests);
    hash_all::<Keccak, RATE_BYTES, LANES>(messages.map(|((blocks, _), rest)| Message {
        front: &[],
        blocks,
        rest,
    }))
}

fn alone((first, second): &(&[u8], &[u8])) -> B256 {
    let mut hasher = Keccak256::new();
    hasher.update(first);
    hasher.update(second);
    hasher.finalize()
}

impl LaneHash<RATE_BYTES, LANES> for Keccak {
    const EMPTY: Self = Keccak { state: [[0; LANES]; 25] };

    fn clear(&mut self, lane: usize) {
        self.state.iter_mut().filter_map(|word| word.get_mut(lane)).for_each(|word| *word = 0);
    }

    fn put(&mut self, lane: usize, block: &[u8; RATE_BYTES]) {
        let (words, _) = block.as_chunks::<8>();
        for (word, bytes) in self.state.iter_mut().zip(words) {
            if let Some(word) = word.get_mut(lane) {
                *word ^= u64::from_le_bytes(*bytes);
            }
        }
    }

    fn put_end(&mut self, lane: usize, end: End<'_>) -> Option<End<'static>> {
        let mut block = [0u8; RATE_BYTES];
        for (to, from) in block.iter_mut().zip(end.rest.iter().chain(&[1])) {
            *to = *from;
        }
        if let Some(last) = block.last_mut() {
            *last |= 0x80;
        }
        self.put(lane, &block);
        None
    }

    fn mix(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if super::keccak_wide::permute(&mut self.state) {
            return;
        }
        self.mix_as_known();
    }

    fn hash(&self, lane: usize) -> B256 {
        let mut hash = B256::ZERO;
        let words = self.state.iter().filter_map(|word| word.get(lane));
        for (bytes, word) in hash.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        hash
    }
}

impl Keccak {
    /// By the widest instructions that `Level` knows of in this processor.
    fn mix_as_known(&mut self) {
        dispatch!(Level::new(), simd => permute(simd, &mut self.state));
    }
}

#[inline(always)]
fn permute<S: Simd>(simd: S, state: &mut [[u64; LANES]; 25]) {
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
fn round(state: &mut [[u64; LANES]; 25], constant: u64) {
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

    /// What is told apart by the processor is both tried here, where this one has both.
    #[test]
    fn the_widest_instructions_mix_as_the_others_do() {
        let state = std::array::from_fn(|i| std::array::from_fn(|j| (i as u64 + 1) << (7 * j)));
        let (mut one, mut other) = (Keccak { state }, Keccak { state });
        for _ in 0..9 {
            one.mix();
            other.mix_as_known();
            assert_eq!(one.state, other.state);
        }
        assert_ne!(one.state, state);
    }

    proptest! {
        #[test]
        fn many_hash_as_each_does_alone(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..900), 0..40)
        ) {
            let alone: Vec<B256> = messages.iter().map(keccak256).collect();
            prop_assert_eq!(keccak_all(&messages), alone);
        }

        #[test]
        fn in_two_parts_they_hash_as_in_one(
            messages in proptest::collection::vec(any::<(Vec<u8>, Vec<u8>)>(), 0..20),
            times in 1usize..6,
        ) {
            let messages: Vec<_> = messages.iter().map(|(a, b)| (a.repeat(times), b)).collect();
            let alone = messages.iter().map(|(a, b)| keccak256([a.as_slice(), b].concat()));
            let parts: Vec<_> = messages.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
            prop_assert_eq!(keccak_all_with(&parts), alone.collect::<Vec<_>>());
        }
    }
}
