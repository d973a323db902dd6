//! SHA-256 of many messages, for processors that have no instructions for one.

use alloy_primitives::B256;
use fearless_simd::{Level, Simd, SimdBase, SimdFrom, dispatch, u32x8};

use super::{End, LaneHash, Message, WORTH_IT, hash_all};

const BLOCK_BYTES: usize = 64;
/// The length of a message stands at the end of its last block.
const LENGTH_AT: usize = BLOCK_BYTES - 8;

/// First bits of the fractional parts of cube roots of the first primes.
pub(super) const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The same of square roots.
const START: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// Each word has one of every lane.
pub(super) struct Sha256<const LANES: usize> {
    pub state: [[u32; LANES]; 8],
    pub block: [[u32; LANES]; 16],
}

/// Works a block of every lane in.
pub(super) trait Compress {
    fn compress(&mut self);
}

/// The hashes of messages in two parts, of which the second are not copied; in the order of the messages. `alone` hashes one.
pub fn sha256_all(messages: &[(&[u8], &[u8])], alone: impl Fn(&[u8], &[u8]) -> B256) -> Vec<B256> {
    if messages.len() < WORTH_IT || has_sha256_instructions() {
        return messages.iter().map(|(first, second)| alone(first, second)).collect();
    }
    in_lanes(messages)
}

/// The first parts are filled up with what follows, so that nothing behind them has to be.
fn in_lanes(messages: &[(&[u8], &[u8])]) -> Vec<B256> {
    let fill = |(first, second): &(&[u8], &[u8])| {
        let missing = first.len().next_multiple_of(BLOCK_BYTES) - first.len();
        missing.min(second.len())
    };
    let parts: Vec<_> = messages.iter().map(|it| it.1.split_at(fill(it))).collect();
    let fronts =
        messages.iter().zip(&parts).map(|((first, _), (fill, _))| [*first, *fill].concat());
    let fronts: Vec<Vec<u8>> = fronts.collect();
    let whole = fronts.iter().zip(&parts).map(|(front, (_, left))| {
        // All of it, where it does not fill a block.
        if !front.len().is_multiple_of(BLOCK_BYTES) {
            return Message::of(front);
        }
        let (blocks, rest) = left.split_at(left.len() - left.len() % BLOCK_BYTES);
        Message { front, blocks, rest }
    });
    #[cfg(target_arch = "x86_64")]
    if super::sha256_wide::is_there() {
        return hash_all::<Sha256<16>, BLOCK_BYTES, 16>(whole);
    }
    hash_all::<Sha256<8>, BLOCK_BYTES, 8>(whole)
}

/// With them one message takes no longer than in a lane.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub fn has_sha256_instructions() -> bool {
    std::arch::is_x86_feature_detected!("sha")
}

#[cfg(target_arch = "aarch64")]
pub fn has_sha256_instructions() -> bool {
    std::arch::is_aarch64_feature_detected!("sha2")
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
pub fn has_sha256_instructions() -> bool {
    false
}

impl<const LANES: usize> LaneHash<BLOCK_BYTES, LANES> for Sha256<LANES>
where
    Self: Compress,
{
    const EMPTY: Self = Sha256 { state: [[0; LANES]; 8], block: [[0; LANES]; 16] };

    fn clear(&mut self, lane: usize) {
        for (word, start) in self.state.iter_mut().zip(START) {
            if let Some(word) = word.get_mut(lane) {
                *word = start;
            }
        }
    }

    fn put(&mut self, lane: usize, block: &[u8; BLOCK_BYTES]) {
        let (words, _) = block.as_chunks::<4>();
        for (word, bytes) in self.block.iter_mut().zip(words) {
            if let Some(word) = word.get_mut(lane) {
                *word = u32::from_be_bytes(*bytes);
            }
        }
    }

    fn put_end(&mut self, lane: usize, end: End<'_>) -> Option<End<'static>> {
        let End { rest, bytes, is_put } = end;
        let mut block = [0u8; BLOCK_BYTES];
        let mark: &[u8] = if is_put { &[] } else { &[0x80] };
        for (to, from) in block.iter_mut().zip(rest.iter().chain(mark)) {
            *to = *from;
        }
        let has_room = rest.len() < LENGTH_AT;
        if let (true, Some(length)) = (has_room, block.last_chunk_mut::<8>()) {
            *length = bytes.wrapping_mul(8).to_be_bytes();
        }
        self.put(lane, &block);
        (!has_room).then_some(End { rest: &[], bytes, is_put: true })
    }

    fn mix(&mut self) {
        self.compress();
    }

    fn hash(&self, lane: usize) -> B256 {
        let mut hash = B256::ZERO;
        let words = self.state.iter().filter_map(|word| word.get(lane));
        for (bytes, word) in hash.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        hash
    }
}

impl Compress for Sha256<8> {
    fn compress(&mut self) {
        dispatch!(Level::new(), simd => compress(simd, &mut self.state, &self.block));
    }
}

/// The compression function for every lane. Sixteen rounds at a time: then every word of the block is made into the one
/// that is sixteen further.
#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "all indices are below the length, and constant once unrolled"
)]
fn compress<S: Simd>(simd: S, state: &mut [[u32; 8]; 8], block: &[[u32; 8]; 16]) {
    let load = |word: &[u32; 8]| u32x8::simd_from(simd, *word);
    let mut words: [u32x8<S>; 16] = std::array::from_fn(|i| load(&block[i]));
    let mut now: [u32x8<S>; 8] = std::array::from_fn(|i| load(&state[i]));
    for (part, constants) in ROUNDS.as_chunks::<16>().0.iter().enumerate() {
        for i in 0..16 {
            if part > 0 {
                let (near, far) = (words[(i + 14) % 16], words[(i + 1) % 16]);
                let near = turned(near, 17) ^ turned(near, 19) ^ (near >> 10);
                let far = turned(far, 7) ^ turned(far, 18) ^ (far >> 3);
                words[i] = words[i] + far + words[(i + 9) % 16] + near;
            }
            let [a, b, c, d, e, f, g, h] = now;
            let mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
            let chosen = g ^ (e & (f ^ g));
            let one = h + mixed + chosen + words[i] + u32x8::splat(simd, constants[i]);
            let mixed = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
            let most = (a & b) ^ (c & (a ^ b));
            now = [one + mixed + most, a, b, c, d + one, e, f, g];
        }
    }
    for (word, made) in state.iter_mut().zip(now) {
        *word = (made + load(word)).into();
    }
}

/// To the right, by less than a word.
#[inline(always)]
fn turned<S: Simd>(word: u32x8<S>, bits: u32) -> u32x8<S> {
    (word >> bits) | (word << (32 - bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::b256;
    use proptest::prelude::*;

    /// In lanes, whatever the processor has, eight of them and as many as it has.
    fn in_all_lanes(messages: &[&[u8]]) -> Vec<B256> {
        let whole: Vec<_> = messages.iter().map(|message| (*message, &[][..])).collect();
        let eight = messages.iter().map(|message| Message::of(message));
        let eight = hash_all::<Sha256<8>, BLOCK_BYTES, 8>(eight);
        assert_eq!(in_lanes(&whole), eight);
        eight
    }

    #[test]
    fn the_examples_of_the_standard() {
        let million = vec![b'a'; 1_000_000];
        let messages: [&[u8]; 4] =
            [b"abc", b"", b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", &million];
        let expected = [
            b256!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            b256!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            b256!("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
            b256!("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ];
        assert_eq!(in_all_lanes(&messages), expected);
    }

    #[test]
    fn a_few_and_what_the_processor_does_itself_are_hashed_alone() {
        let messages = [([1u8].as_slice(), [2u8; 20].as_slice()); 20];
        let alone = |_: &[u8], _: &[u8]| B256::repeat_byte(7);
        assert_eq!(sha256_all(&messages[..2], alone), [B256::repeat_byte(7); 2]);
        let expected =
            if has_sha256_instructions() { alone(&[], &[]) } else { in_lanes(&messages)[0] };
        assert_eq!(sha256_all(&messages, alone), [expected; 20]);
    }

    #[test]
    fn lengths_around_a_block_hash_as_they_do_alone() {
        let bytes: Vec<u8> = (0..300).map(|i| i as u8).collect();
        let messages: Vec<&[u8]> = (0..300).map(|length| &bytes[..length]).collect();
        let alone: Vec<B256> = messages.iter().map(|message| reference(message)).collect();
        assert_eq!(in_all_lanes(&messages), alone);
        for first in [0, 1, 40, 63, 64, 65, 112, 128, 200] {
            let parts: Vec<_> = messages[first..].iter().map(|it| it.split_at(first)).collect();
            assert_eq!(in_lanes(&parts), alone[first..]);
        }
    }

    proptest! {
        #[test]
        fn many_hash_as_each_does_alone(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..400), 0..40)
        ) {
            let alone: Vec<B256> = messages.iter().map(|message| reference(message)).collect();
            let messages: Vec<_> = messages.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(in_all_lanes(&messages), alone);
        }

        #[test]
        fn in_two_parts_they_hash_as_in_one(
            messages in proptest::collection::vec(any::<(Vec<u8>, Vec<u8>)>(), 0..40),
            times in 1usize..6,
        ) {
            let messages: Vec<_> = messages.iter().map(|(a, b)| (a, b.repeat(times))).collect();
            let alone = messages.iter().map(|(a, b)| reference(&[a.as_slice(), b].concat()));
            let parts: Vec<_> = messages.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
            prop_assert_eq!(in_lanes(&parts), alone.collect::<Vec<_>>());
        }
    }

    fn reference(message: &[u8]) -> B256 {
        use sha2::{Digest, Sha256};
        B256::from_slice(&Sha256::digest(message))
    }
}
