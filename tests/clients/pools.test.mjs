// Random mints, swaps and burns on Uniswap's own contracts, blocks replaced in between. After every
// block the stored state of every pool is what the pool itself says, and every price its exact quotient:
// followed live, asked for later, filled from history, and taken from the node.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { askPrice, compareHeld, heldAt, isCut, quotient } from '../support/pools.mjs';
import { settled, startAnvil, startHeadwater } from '../support/processes.mjs';
import { WETH } from './market.mjs';
import { TOKENS, Uniswap } from './uniswap.mjs';

const seeds = process.env.HEADWATER_SEED ? [Number(process.env.HEADWATER_SEED)] : [1, 2];
const BLOCKS = 60;
/** After so many blocks, the newest ones are replaced or taken away. */
const REPLACED = { 12: ['reorg', 1], 20: ['reorg', 4], 33: ['rollback', 3], 41: ['reorg', 9], 52: ['rollback', 6] };

for (const seed of seeds) {
  describe(`pools of real exchanges, seed ${seed} (HEADWATER_SEED)`, () => {
    let anvil, headwater, uniswap;

    async function compareAt(server, block, options = {}) {
      const held = await heldAt(anvil.url, uniswap.pools, block ?? await uniswap.head());
      let compared = 0;
      for (const token of TOKENS) compared += await compareHeld({ headwater: server, pools: uniswap.pools, held, token, decimals: 18, block, ...options });
      return compared;
    }
    async function compareAll(server, options = {}, last) {
      let compared = 0;
      for (let block = uniswap.opened; block <= (last ?? await uniswap.head()); block++) compared += await compareAt(server, block, options);
      return compared;
    }

    before(async () => {
      anvil = await startAnvil(`pools-${seed}-node`, ['--gas-limit', '1000000000']);
      uniswap = new Uniswap(anvil.url, seed);
      await uniswap.start();
      headwater = await startHeadwater(`pools-${seed}`, [anvil.url]);
    });
    after(async () => { await headwater?.stop(); await anvil?.stop(); });

    it('are as they say after every block while the chain is followed, also when blocks are replaced', async () => {
      let compared = 0, reverted = 0;
      for (let n = 1; n <= BLOCKS; n++) {
        const [how, depth] = REPLACED[n] ?? [];
        if (how) { await uniswap[how](depth); reverted += depth; }
        await uniswap.block();
        await settled(headwater, anvil.url, { reverted });
        compared += await compareAt(headwater);
        // What was replaced is asked for, too, and the answers of before must not be remembered.
        for (let back = 1; back <= (depth ?? 0); back++) compared += await compareAt(headwater, await uniswap.head() - back);
      }
      const done = await uniswap.done();
      console.log(`seed ${seed}: ${compared} states compared while following; ${Object.entries(done).map(([kind, { done, failed }]) => `${kind} ${done}/${done + failed}`).join(', ')}`);
      for (const kind of ['v2 mint', 'v2 burn', 'v2 swap', 'v2 sync', 'v3 mint around the price', 'v3 mint aside', 'v3 burn', 'v3 burn of all in range', 'v3 swap', 'v3 swap to an edge', 'v3 swap far']) assert.ok(done[kind]?.done >= 2, `${kind} happened hardly ever`);
    });

    it('are as they were at every block when asked for later', async () => {
      const compared = await compareAll(headwater);
      console.log(`seed ${seed}: ${compared} states compared afterwards`);
      assert.ok(compared > BLOCKS * 6);
    });

    it('went through what is hard: no liquidity at the price, and liquidity that changes while the price stands still', async () => {
      let dry = 0, changed = 0, earlier;
      for (let block = uniswap.opened; block <= await uniswap.head(); block++) {
        const held = await heldAt(anvil.url, uniswap.pools, block);
        for (const { addr, kind } of uniswap.pools) {
          if (kind !== 'v3') continue;
          const [was, is] = [earlier?.get(addr), held.get(addr)];
          if (is.liquidity === '0') dry++;
          if (was && was.sqrtPriceX96 === is.sqrtPriceX96 && was.liquidity !== is.liquidity) changed++;
        }
        earlier = held;
      }
      console.log(`seed ${seed}: ${dry} states without liquidity, ${changed} with liquidity changed at a standing price`);
      assert.ok(dry > 3 && changed > 3, `${dry} dry, ${changed} changed`);
    });

    it('make prices in dollars that are exact quotients, too', async () => {
      for (let block = uniswap.opened; block <= await uniswap.head(); block += 7) {
        const held = await heldAt(anvil.url, [...uniswap.pools, uniswap.money], block);
        // Dollars have 6 decimals and the coin has 18.
        const [up, down] = quotient(uniswap.money, held.get(uniswap.money.addr), WETH), coin = [up * 10n ** 12n, down];
        const { body: native } = await askPrice(headwater, WETH, { to_block: block });
        assert.deepEqual(native.explain.pools[0].state, held.get(uniswap.money.addr));
        assert.equal(native.explain.pools[0].nativeValue, String(10n ** 18n));
        for (const token of TOKENS) {
          const { body } = await askPrice(headwater, token, { to_block: block, min_pair_side_liquidity_usd: 0 });
          for (const { pool, usdPriceFormatted } of body.explain.pools) {
            const [top, bottom] = quotient(uniswap.pools.find(({ addr }) => addr === pool), held.get(pool), token);
            assert.ok(isCut(usdPriceFormatted, [top * coin[0], bottom * coin[1]]), `${pool} at ${block}: ${usdPriceFormatted}`);
            if (pool === body.explain.pool) assert.equal(body.usdPriceFormatted, usdPriceFormatted);
          }
        }
      }
    });

    /** Compares with another server than the one that followed, which is stopped whatever comes of it. */
    async function compareWith(name, args, options, last) {
      const other = await startHeadwater(`pools-${seed}-${name}`, [anvil.url], { args });
      try {
        await settled(other, anvil.url);
        const compared = await compareAll(other, options, last);
        console.log(`seed ${seed}: ${compared} states compared with ${name}`);
        assert.ok(compared > BLOCKS * 6);
      } finally { await other.stop(); }
    }

    it('are the same filled from history', () => compareWith('history', [], {}));

    it('are the same taken from the node where nothing is indexed', async () => {
      const head = await uniswap.head();
      await compareWith('the-node', ['--from-block', `eth=${head}`], { source: 'node' }, head - 1);
    });
  });
}
