// The console on recorded blocks of mainnet, without a node: gaps, real transactions, what is proven of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { logIn, openBrowser, openPage, overflow, seriousFaults, visit } from '../support/browser.mjs';
import { emptyFolder, headwaterBinary, startHeadwater } from '../support/processes.mjs';
import { rpc } from '../support/http.mjs';

const BLOCK = 14_000_005;
let headwater, browser, page;
const dataset = (selector, name) => page.locator(selector).evaluateAll((nodes, key) => nodes.map((node) => node.dataset[key]), name);
const status = async (more = '') => (await fetch(`${headwater.url}/status${more}`)).json();

/** Whole blocks, and headers of blocks that have no transactions. */
function recorded(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? recorded(file) : file.endsWith('.gz') ? [file] : [];
  });
}

before(async () => {
  const data = emptyFolder('console-recorded');
  execFileSync(headwaterBinary(), ['import', '--data', data, '--chain', 'eth', ...recorded(path.join(process.env.HEADWATER_FIXTURES, 'blocks-mainnet')).sort()], { stdio: 'ignore' });
  headwater = await startHeadwater('console-recorded', [], { data });
  browser = await openBrowser();
  page = await openPage(browser, headwater.url);
  await logIn(page, headwater.key);
});
after(async () => {
  await browser?.close();
  await headwater?.stop();
});

describe('console: recorded blocks', () => {
  it('coverage is drawn with its gaps', async () => {
    const [coverage] = await visit(page, '#/', '/console/api/coverage/eth');
    await page.waitForSelector('.strip .piece');
    const { blocks } = (await status()).chains.eth;
    const stored = (await dataset('.strip .piece', 'stored')).map(Number);
    assert.equal(stored.reduce((sum, one) => sum + one, 0), blocks);
    assert.deepEqual(stored, coverage.pieces.map((piece) => piece.stored));
    assert.ok(stored.filter((one) => one === 0).length > 20, 'most of mainnet is not there');
    assert.equal(await page.locator('.piece.none').count(), stored.filter((one) => one === 0).length);
  });

  it('a block and its transactions have every field that was recorded', async () => {
    const node = `${headwater.url}/eth/${headwater.key}`;
    const block = await rpc(node, 'eth_getBlockByNumber', [`0x${BLOCK.toString(16)}`, true]);
    await visit(page, `#/eth/block/${BLOCK}`, '/console/api/rpc/eth');
    await page.waitForSelector('[aria-label="Header"]');
    assert.deepEqual(await dataset('[aria-label="Header"] tbody tr', 'field'), Object.keys(block).filter((name) => name !== 'transactions'));
    const proven = await status(`/eth/blocks/${BLOCK}`);
    assert.equal(proven.level, 'verified');
    assert.equal(await page.textContent('[aria-label="Header"] tr[data-field="receiptsRoot"] .badge'), 'header hash');
    assert.equal(await page.textContent('[aria-label="Header"] tr[data-field="totalDifficulty"] .badge'), "node's word");
    assert.deepEqual(await dataset('[aria-label="Transactions of this block"] tbody tr', 'hash'), block.transactions.slice(0, 100).map((one) => one.hash));
    const sent = block.transactions.find((one) => one.type === '0x2' && one.input !== '0x');
    const receipt = await rpc(node, 'eth_getTransactionReceipt', [sent.hash]);
    await visit(page, `#/eth/tx/${sent.hash}`, '/console/api/rpc/eth');
    await page.waitForSelector('[aria-label="Receipt"]');
    assert.deepEqual(await dataset('[aria-label="Transaction"] tbody tr', 'field'), Object.keys(sent));
    assert.equal(await page.locator('.log').count(), receipt.logs.length);
    assert.equal(await page.textContent('[aria-label="Transaction"] tr[data-field="gasPrice"] .badge'), 'derived');
    assert.deepEqual(await seriousFaults(page), []);
  });

  it('a wallet says that blocks are missing', async () => {
    const node = `${headwater.url}/eth/${headwater.key}`;
    const block = await rpc(node, 'eth_getBlockByNumber', [`0x${BLOCK.toString(16)}`, true]);
    const senders = block.transactions.map((one) => one.from);
    const busiest = senders.toSorted((a, b) => senders.filter((one) => one === b).length - senders.filter((one) => one === a).length)[0];
    const [answer] = await visit(page, `#/eth/wallet/${busiest}`, `/api/v2.2/${busiest}`);
    await page.waitForSelector('.chart .bar', { state: 'attached' });
    assert.deepEqual(await dataset('[aria-label^="Transactions of"] > table > tbody > tr:not(.inner)', 'hash'), answer.result.slice(0, 25).map((row) => row.hash));
    assert.match(await page.textContent('.notice.warn'), /Only some of the asked blocks are stored/);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await overflow(page), 0);
    assert.deepEqual(page.complaints, []);
  });
});
