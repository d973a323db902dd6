//! SHA-256 of sixteen messages, for processors that have registers for so many (AVX-512) and no instructions for one. Turning a word and
//! joining three are one instruction each there, so that this takes half the time of eight lanes twice.

use std::arch::x86_64::__m512i;

use pulp::x86::V4;

use super::sha256::{Compress, ROUNDS, Sha256};

/// What three bits become, as the instruction wants to be told: for all eight of them.
const ODD: i32 = 0x96;
/// The second where the first is set, else the third.
const CHOSEN: i32 = 0xca;
const MOST: i32 = 0xe8;

/// Whether this processor can.
pub fn is_there() -> bool {
    V4::is_available()
}

impl Compress for Sha256<16> {
    fn compress(&mut self) {
        // Nobody asks for it where it is not there.
        let Some(simd) = V4::try_new() else { return };
        let Sha256 { state, block } = self;
        simd.vectorize(
            #[inline(always)]
            || compress(simd, state, block),
        );
    }
}

/// Sixteen rounds at a time: then every word of the block is made into the one that is sixteen further.
#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "all indices are below the length, and constant once unrolled"
)]
fn compress(simd: V4, state: &mut [[u32; 16]; 8], block: &[[u32; 16]; 16]) {
    let f = simd.avx512f;
    let add = |a, b| f._mm512_add_epi32(a, b);
    let odd = |a, b, c| f._mm512_ternarylogic_epi32::<ODD>(a, b, c);
    let mut words: [__m512i; 16] = std::array::from_fn(|i| pulp::cast(block[i]));
    let mut now: [__m512i; 8] = std::array::from_fn(|i| pulp::cast(state[i]));
    for (part, constants) in ROUNDS.as_chunks::<16>().0.iter().enumerate() {
        for i in 0..16 {
            if part > 0 {
                let (near, far) = (words[(i + 14) % 16], words[(i + 1) % 16]);
                let near = odd(
                    f._mm512_ror_epi32::<17>(near),
                    f._mm512_ror_epi32::<19>(near),
                    f._mm512_srli_epi32::<10>(near),
                );
                let far = odd(
                    f._mm512_ror_epi32::<7>(far),
                    f._mm512_ror_epi32::<18>(far),
                    f._mm512_srli_epi32::<3>(far),
                );
                words[i] = add(add(words[i], far), add(words[(i + 9) % 16], near));
            }
            let [a, b, c, d, e, f_, g, h] = now;
            let mixed = odd(
                f._mm512_ror_epi32::<6>(e),
                f._mm512_ror_epi32::<11>(e),
                f._mm512_ror_epi32::<25>(e),
            );
            let chosen = f._mm512_ternarylogic_epi32::<CHOSEN>(e, f_, g);
            let with_constant = add(words[i], f._mm512_set1_epi32(constants[i].cast_signed()));
            let one = add(add(h, with_constant), add(mixed, chosen));
            let mixed = odd(
                f._mm512_ror_epi32::<2>(a),
                f._mm512_ror_epi32::<13>(a),
                f._mm512_ror_epi32::<22>(a),
            );
            let most = f._mm512_ternarylogic_epi32::<MOST>(a, b, c);
            now = [add(one, add(mixed, most)), a, b, c, add(d, one), e, f_, g];
        }
    }
    for (word, made) in state.iter_mut().zip(now) {
        *word = pulp::cast(add(made, pulp::cast(*word)));
    }
}
