// The rig's chains, seeds 1 and 2: once followed live while the scenario runs, reorgs and all, and
// once filled from history afterwards. Answers must equal the scenario's own book.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { walletPage } from '../support/http.mjs';
import { settled, startHeadwater } from '../support/processes.mjs';
import { Book, compareAll, compareBalances, compareBlocks, comparePages } from './compare.mjs';
import { compareLowest, compareTrades } from './trades.mjs';
import { compareMoney, comparePrices, compareStates } from './prices.mjs';
import { startScenario } from './scenario.mjs';

const full = process.env.HEADWATER_RIG_FULL === '1';
const size = full ? { blocks: 300, txs: 25, blockMs: 40 } : { blocks: 60, txs: 15, blockMs: 20 };
const GENESIS_WEI = 10n ** 24n;

function answersOf(state) {
  const wallets = () => { const all = Object.keys(state.book.wallets); return full ? all : all.filter((_, at) => at % 6 === 5); };
  it('lists every address its transactions, with what moved inside, and nothing that was dropped', () => compareAll(state.headwater, state.book));
  it('gives the same rows in pages of any size, in both orders, by blocks and by dates', () => comparePages(state.headwater, state.book, wallets()));
  it('explains every wei of every wallet', async () => assert.equal(await compareBalances(state.headwater, state.book, GENESIS_WEI), 0));
  it('gives blocks and transactions as the node does', () => compareBlocks(state.headwater, state.book, state.scenario.url, full ? 3 : 10));
  it('lists every sale of every NFT contract, by market, in pages, by blocks and by dates', () => compareTrades(state.headwater, state.book));
  it('knows the lowest price of every NFT contract, by market and by days', () => compareLowest(state.headwater, state.book));
  it('prices tokens exactly as their pools stood, at every block', async () => assert.ok(await comparePrices(state.headwater, state.book) > 100));
  it('holds of every pool what the pool says of itself, at every block', async () => {
    const compared = await compareStates(state.headwater, state.book, state.scenario.url);
    console.log(`${compared} states of ${state.book.pools.length} pools in ${state.book.meta.head + 1} blocks compared`);
    assert.ok(compared >= state.book.pools.length * (state.book.meta.head - 8));
  });
  it('prices the coin within its pools, and names tokens as their contracts do', () => compareMoney(state.headwater, state.book));
  it('says which blocks it covers', async () => {
    const page = await walletPage(state.headwater, Object.keys(state.book.wallets)[0]);
    assert.equal(page.headers.get('x-indexed-blocks'), `0-${state.book.meta.head}`);
    assert.equal(page.headers.get('x-coverage'), null);
  });
}

for (const seed of [1, 2]) {
  describe(`rig, seed ${seed}, ${size.blocks} blocks of ${size.txs}`, () => {
    const live = {}, backfill = {};
    before(async () => { live.scenario = backfill.scenario = await startScenario({ seed, ...size }); });
    after(() => live.scenario?.stop());

    describe('followed live', () => {
      before(async () => {
        live.headwater = await startHeadwater(`rig-live-${seed}`, [live.scenario.url]);
        live.book = backfill.book = new Book(await live.scenario.expected());
        live.status = await settled(live.headwater, live.scenario.url);
      });
      after(() => live.headwater?.stop());
      answersOf(live);
      it('saw the reorgs', () => assert.ok(live.status.ingest.blocks_reverted > 0, JSON.stringify(live.status.ingest)));
    });

    describe('filled from history', () => {
      before(async () => {
        const started = Date.now();
        backfill.headwater = await startHeadwater(`rig-backfill-${seed}`, [live.scenario.url]);
        await settled(backfill.headwater, live.scenario.url, { timeout_ms: 600_000 });
        console.log(`seed ${seed}: ${backfill.book.meta.head + 1} blocks filled in ${((Date.now() - started) / 1000).toFixed(1)} s`);
      });
      after(() => backfill.headwater?.stop());
      answersOf(backfill);
    });
  });
}
