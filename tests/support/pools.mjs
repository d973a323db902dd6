// What pools hold, asked of the node, against what headwater has stored and answers. A pool is
// { addr, kind: 'v2' | 'v3', token0, token1 }.
import assert from 'node:assert/strict';
import { rpcAll } from './http.mjs';

const GET_RESERVES = '0x0902f1ac', SLOT0 = '0x3850c7bd', LIQUIDITY = '0x1a686502';
const wordAt = (answer, at) => BigInt('0x' + answer.slice(2 + 64 * at, 66 + 64 * at));

/** Each pool's state after a block, as the pool itself tells it there; null before it is one. */
export async function heldAt(nodeUrl, pools, block) {
  const call = (to, data) => ['eth_call', [{ to, data }, '0x' + block.toString(16)]];
  const answers = await rpcAll(nodeUrl, pools.flatMap(({ addr, kind }) => (kind === 'v2' ? [call(addr, GET_RESERVES)] : [call(addr, SLOT0), call(addr, LIQUIDITY)])));
  return new Map(pools.map(({ addr, kind }) => {
    const first = answers.shift(), second = kind === 'v2' ? null : answers.shift();
    if (first === '0x') return [addr, null];
    if (kind === 'v2') return [addr, { reserve0: String(wordAt(first, 0)), reserve1: String(wordAt(first, 1)) }];
    return [addr, { sqrtPriceX96: String(wordAt(first, 0)), tick: Number(BigInt.asIntN(24, wordAt(first, 1))), liquidity: String(wordAt(second, 0)) }];
  }));
}

/** Whether there is a price: a pair with nothing in it and a pool before its first price have none. */
export const hasPrice = (state) => Boolean(state) && (state.sqrtPriceX96 ?? state.reserve0) !== '0';

/** Units of the other token for one of `token`, as an exact quotient. */
export function quotient(pool, state, token) {
  const [up, down] = 'reserve0' in state ? [BigInt(state.reserve1), BigInt(state.reserve0)] : [BigInt(state.sqrtPriceX96) ** 2n, 1n << 192n];
  return pool.token0 === token ? [up, down] : [down, up];
}

/** Digits as they are written are the exact number, cut off. */
export function isCut(text, [up, down]) {
  const [whole, part = ''] = text.split('.');
  return BigInt(whole + part) === (up * 10n ** BigInt(part.length)) / down;
}

/** The price of a token, with all that explains it. */
export async function askPrice(headwater, token, query = {}, profile = 'spec') {
  const url = `${headwater.url}/api/v2.2/erc20/${token}/price?${new URLSearchParams({ explain: 'true', ...query })}`;
  const response = await fetch(url, { headers: { 'x-api-key': headwater.key, 'x-wire-profile': profile } });
  return { status: response.status, body: await response.json() };
}

/**
 * Asks the price of `token` after `block` (the newest without) and compares every pool of it with the
 * node's word: its state, its own price, and the answer with that of the chosen pool. Returns how many.
 */
export async function compareHeld({ headwater, pools, held, token, decimals, block, query = {}, source = 'store' }) {
  const mine = pools.filter(({ addr, token0, token1 }) => [token0, token1].includes(token) && hasPrice(held.get(addr)));
  const { status, body } = await askPrice(headwater, token, { min_pair_side_liquidity_usd: 0, ...(block === undefined ? {} : { to_block: block }), ...query });
  const where = `${token} at ${block ?? 'the head'}`;
  if (!mine.length) { assert.equal(status, 404, `${where}: ${JSON.stringify(body.message)}`); return 0; }
  assert.equal(status, 200, `${where}: ${body.message}`);
  const { explain } = body, listed = new Map(explain.pools.map((pool) => [pool.pool, pool]));
  assert.equal(explain.source, source, where);
  assert.deepEqual([...listed.keys()].sort(), mine.map(({ addr }) => addr).sort(), where);
  assert.equal(explain.pools[0].pool, explain.pool, `${where}: the chosen pool comes first`);
  assert.equal(explain.poolsConsidered, mine.length, where);
  for (const pool of mine) {
    const { state, nativeValue, changedAtBlock } = listed.get(pool.addr), expected = held.get(pool.addr);
    assert.deepEqual(state, expected, `${pool.label ?? pool.addr} at ${block ?? 'the head'}`);
    const [up, down] = quotient(pool, expected, token);
    assert.equal(nativeValue, String((up * 10n ** BigInt(decimals)) / down), `${pool.label ?? pool.addr} at ${block ?? 'the head'}`);
    if (source === 'node') assert.equal(changedAtBlock, null);
    else if (block !== undefined) assert.ok(changedAtBlock <= block, `${where}: changed at ${changedAtBlock}`);
    if (pool.addr === explain.pool) assert.equal(body.nativePrice.value, nativeValue, where);
  }
  return mine.length;
}
