// Compares headwater's prices with what the pools of the rig held, block by block.
import assert from 'node:assert/strict';
import { askPrice as ask, compareHeld, heldAt } from '../support/pools.mjs';

const WETH_UNITS = 10n ** 18n;

/** Native coins (in their smallest unit) for one whole token: what the pool holds at a block, exactly. */
function nativeValue(pool, held, decimals) {
  const whole = 10n ** BigInt(decimals);
  // The stable is token0 and the coin token1 in every pool of the rig.
  if (pool.kind === 'v2') return (BigInt(held.reserve1) * whole) / BigInt(held.reserve0);
  const root = BigInt(held.sqrtPriceX96);
  return (root * root * whole) >> 192n;
}

/** At every block: each stable by each exchange is exactly what its pool held. Returns how many prices were compared. */
export async function comparePrices(headwater, book, every = 1) {
  const decimals = { [book.contracts.USDC]: 6, [book.contracts.DAI]: 18 };
  const pools = new Map(book.pools.map((pool) => [pool.addr, { ...pool, at: new Map(pool.prices.map((held) => [held.block, held])) }]));
  let compared = 0;
  for (const token of Object.keys(decimals)) {
    for (const exchange of ['uniswapv2', 'uniswapv3']) {
      for (let block = 8; block <= book.meta.head; block += block === book.meta.head ? 1 : Math.min(every, book.meta.head - block)) {
        const { status, body } = await ask(headwater, token, { exchange, to_block: block });
        assert.equal(status, 200, `${token} ${exchange} at ${block}: ${JSON.stringify(body)}`);
        const pool = pools.get(body.explain.pool);
        assert.ok(pool && pool.token0 === token && pool.kind === exchange.replace('uniswap', ''), `${body.explain.pool} for ${token} on ${exchange}`);
        assert.equal(body.nativePrice.value, String(nativeValue(pool, pool.at.get(block), decimals[token])), `${pool.label} at ${block}`);
        assert.equal(body.explain.source, 'store');
        compared++;
      }
    }
  }
  return compared;
}

/**
 * At every block: what is stored of every pool is what the pool says of itself, and so is its price. The book has
 * read most of it while the chain was made; the rest, and all of it once more, is asked of the node. Returns how many.
 */
export async function compareStates(headwater, book, nodeUrl) {
  const tokens = [[book.contracts.USDC, 6], [book.contracts.DAI, 18]];
  let compared = 0;
  for (let block = 0; block <= book.meta.head; block++) {
    const held = await heldAt(nodeUrl, book.pools, block);
    for (const pool of book.pools) {
      const read = pool.prices.find((it) => it.block === block), state = held.get(pool.addr);
      for (const name of ['reserve0', 'reserve1', 'sqrtPriceX96', 'tick']) if (read && name in read) assert.equal(state[name], read[name], `${pool.label} at ${block}: the node has changed its mind`);
    }
    for (const [token, decimals] of tokens) compared += await compareHeld({ headwater, pools: book.pools, held, token, decimals, block });
  }
  return compared;
}

/** The coin lies within what its pools say; names come from the contracts, odd ones too. */
export async function compareMoney(headwater, book) {
  for (const block of [8, Math.floor(book.meta.head / 2), book.meta.head]) {
    const { body } = await ask(headwater, book.contracts.WETH, { to_block: block });
    const said = book.pools.map((pool) => pool.prices.find((held) => held.block === block).wethPriceInToken0);
    assert.ok(body.usdPrice >= Math.min(...said) * 0.999 && body.usdPrice <= Math.max(...said) * 1.001, `${body.usdPrice} of ${said}`);
    assert.equal(body.nativePrice.value, String(WETH_UNITS));
  }
  const { body: usdc } = await ask(headwater, book.contracts.USDC, { include: 'percent_change' }, 'live');
  assert.equal(usdc.tokenSymbol, 'USDC');
  // Nobody keeps the rig's pools in line with each other, so a stable may stray; then it must be doubted.
  const strays = Math.abs(usdc.usdPrice - 1) > 0.05;
  assert.ok(usdc.tokenName && usdc.usdPrice > 0, JSON.stringify(usdc));
  assert.ok(!strays || usdc.explain.confidence !== 'high', JSON.stringify(usdc));
  const none = await ask(headwater, book.contracts.MKR, {});
  assert.deepEqual([none.status, none.body.message], [404, 'No pools found with enough liquidity, to calculate the price']);
  const nobody = await ask(headwater, '0x00000000000000000000000000000000000000aa', {});
  assert.match(nobody.body.message, /is not a token/);
}
