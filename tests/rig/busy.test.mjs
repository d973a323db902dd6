// The rig's chains followed live while other processes keep every core busy, so that traces come late, short or
// not at all: at every moment a wallet is explained to the wei, or the answer says that traces are missing, and that heals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import os from 'node:os';
import { after, before, describe, it } from 'node:test';
import { settled, sleep, startHeadwater } from '../support/processes.mjs';
import { Book, compareBalances } from './compare.mjs';
import { startScenario } from './scenario.mjs';

const full = process.env.HEADWATER_RIG_FULL === '1';
const seeds = full ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [3];
const size = full ? { blocks: 300, txs: 25, blockMs: 40 } : { blocks: 60, txs: 15, blockMs: 20 };
const GENESIS_WEI = 10n ** 24n;
const HEALS_WITHIN_MS = 300_000;

/** One busy process per core. */
function keepBusy() {
  const all = os.cpus().map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  const stop = () => all.forEach((child) => child.kill('SIGKILL'));
  process.on('exit', stop);
  return stop;
}

for (const seed of seeds) {
  describe(`rig on a busy machine, seed ${seed}, ${size.blocks} blocks of ${size.txs}`, () => {
    let stopBusy, scenario, headwater, book;
    before(async () => {
      stopBusy = keepBusy();
      scenario = await startScenario({ seed, ...size });
      headwater = await startHeadwater(`rig-busy-${seed}`, [scenario.url]);
      book = new Book(await scenario.expected());
      await settled(headwater, scenario.url, { timeout_ms: 600_000 });
    });
    after(async () => { stopBusy?.(); await headwater?.stop(); scenario?.stop(); });

    it('explains every wei of every wallet, or says that traces are missing, and heals', async () => {
      const explain = () => compareBalances(headwater, book, GENESIS_WEI), deadline = Date.now() + HEALS_WITHIN_MS;
      const first = await explain();
      for (let left = first; left > 0; left = await explain()) {
        assert.ok(Date.now() < deadline, `${left} wallets still lack traces`);
        await sleep(500);
      }
      console.log(`seed ${seed}: traces missing for ${first} wallets when the head was reached; all ${Object.keys(book.wallets).length} explained in the end`);
    });
  });
}
