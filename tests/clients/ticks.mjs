// The root of the price at a tick, times 2^96, to the last bit as v3's TickMath has it, for ticks of up to 13 bits.

// 2^128 / √1.0001^(2^n), one for each bit of the tick.
const FACTORS = [
  0xfffcb933bd6fad37aa2d162d1a594001n, 0xfff97272373d413259a46990580e213an, 0xfff2e50f5f656932ef12357cf3c7fdccn, 0xffe5caca7e10e4e61c3624eaa0941cd0n, 0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n, 0xff2ea16466c96a3843ec78b326b52861n, 0xfe5dee046a99a2a811c461f1969c3053n, 0xfcbe86c7900a88aedcffc83b479aa3a4n, 0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n, 0xe7159475a2c29b7443b29c7fa6e889d9n, 0xd097f3bdfd2022b8845ad8f792aa5825n,
];

export function rootAt(tick) {
  const size = Math.abs(tick);
  if (size >= 1 << FACTORS.length) throw new Error(`tick ${tick} is too far for this table`);
  let ratio = 1n << 128n;
  FACTORS.forEach((factor, bit) => { if (size & (1 << bit)) ratio = (ratio * factor) >> 128n; });
  if (tick > 0) ratio = ((1n << 256n) - 1n) / ratio;
  const low = ratio & 0xffffffffn;
  return (ratio >> 32n) + (low ? 1n : 0n);
}
