//! Keccak's permutation of eight states, for processors with AVX-512: all of it stays in registers, and turning a word and joining
//! three are one instruction each.

use std::arch::x86_64::__m512i;

use pulp::x86::V4;

use super::keccak::{ROUNDS, TURNS};

/// What three bits become, as the instruction wants to be told: for all eight of them.
const ODD: i32 = 0x96;
/// The first, turned where the second is not set and the third is.
const CHANGED: i32 = 0xd2;

/// False, and nothing is done, where this processor cannot.
pub fn permute(state: &mut [[u64; 8]; 25]) -> bool {
    let Some(simd) = V4::try_new() else { return false };
    simd.vectorize(
        #[inline(always)]
        || all_rounds(simd, state),
    );
    true
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "all indices are constants once unrolled")]
fn all_rounds(simd: V4, state: &mut [[u64; 8]; 25]) {
    let f = simd.avx512f;
    let odd = |a, b, c| f._mm512_ternarylogic_epi64::<ODD>(a, b, c);
    let mut a: [__m512i; 25] = std::array::from_fn(|i| pulp::cast(state[i]));
    for constant in ROUNDS {
        let column = |x: usize| odd(odd(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
        let columns = [column(0), column(1), column(2), column(3), column(4)];
        let mut b = a;
        for x in 0..5 {
            let (left, right) = (columns[(x + 4) % 5], columns[(x + 1) % 5]);
            let right = f._mm512_rol_epi64::<1>(right);
            for y in 0..5 {
                let by = f._mm512_set1_epi64(i64::from(TURNS[x + 5 * y]));
                let turned = f._mm512_rolv_epi64(odd(a[x + 5 * y], left, right), by);
                b[y + 5 * ((2 * x + 3 * y) % 5)] = turned;
            }
        }
        for y in 0..5 {
            for x in 0..5 {
                let (next, after) = (b[(x + 1) % 5 + 5 * y], b[(x + 2) % 5 + 5 * y]);
                let changed = f._mm512_ternarylogic_epi64::<CHANGED>(b[x + 5 * y], next, after);
                a[x + 5 * y] = changed;
            }
        }
        a[0] = f._mm512_xor_si512(a[0], f._mm512_set1_epi64(constant.cast_signed()));
    }
    for (word, made) in state.iter_mut().zip(a) {
        *word = pulp::cast(made);
    }
}
