// The console's token page on pools whose state was told by us: every point and row is an answer of the API.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { logIn, openBrowser, openPage, overflow, seriousFaults, visit } from '../support/browser.mjs';
import { TOKEN, makeMarket } from './market.mjs';
import { rpc } from '../support/http.mjs';
import { settled, startAnvil, startHeadwater } from '../support/processes.mjs';

let anvil, headwater, browser, page;
const price = async (query) => (await fetch(`${headwater.url}/api/v2.2/erc20/${TOKEN}/price?${new URLSearchParams({ chain: 'eth', ...query })}`, { headers: { 'x-api-key': headwater.key, 'x-wire-profile': 'live' } })).json();

before(async () => {
  anvil = await startAnvil('console-node');
  await makeMarket(anvil.url);
  headwater = await startHeadwater('console', [anvil.url]);
  await settled(headwater, anvil.url);
  browser = await openBrowser();
  page = await openPage(browser, headwater.url);
  await logIn(page, headwater.key);
});
after(async () => {
  await browser?.close();
  await headwater?.stop();
  await anvil?.stop();
});

describe('console: token', () => {
  it('the price, its pools and why it is what it is', async () => {
    await visit(page, `#/eth/token/${TOKEN}`, '/price');
    await page.waitForSelector('.chart .point');
    const now = await price({});
    assert.equal(await page.getAttribute('#price', 'data-usd'), now.usdPriceFormatted);
    assert.match(await page.textContent('h1'), new RegExp(now.tokenName));
    const pools = await page.locator('[aria-label="Pools of this token"] [data-usd]').evaluateAll((nodes) => nodes.map((node) => node.dataset.usd));
    assert.deepEqual(pools, now.explain.pools.map((pool) => pool.usdPriceFormatted));
    assert.match(await page.textContent('main'), new RegExp(`${now.explain.poolsAgreeing} pools? of ${now.explain.poolsConsidered} agree`));
    assert.match(await page.textContent('.pairs'), new RegExp(now.exchangeName));
  });

  it('a point for every block that has a price, where the API says it is', async () => {
    const status = await (await fetch(`${headwater.url}/status`)).json();
    const [from, to] = status.chains.eth.coverage.split('-').map(Number);
    const timeOf = async (number) => Number((await rpc(anvil.url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])).timestamp);
    const expected = [];
    for (let number = from; number <= to; number++) {
      const answer = await price({ to_block: number });
      if (answer.usdPriceFormatted) expected.push(`${await timeOf(number)} ${answer.usdPriceFormatted}`);
    }
    assert.ok(expected.length > 3);
    const drawn = await page.locator('.chart .point').evaluateAll((nodes) => nodes.map((node) => `${node.dataset.x} ${node.dataset.y}`));
    assert.deepEqual(drawn, expected);
    // Higher prices stand higher.
    const heights = await page.locator('.chart .point').evaluateAll((nodes) => nodes.map((node) => [Number(node.dataset.y), -Number(node.getAttribute('cy'))]));
    for (const [a, ya] of heights) for (const [b, yb] of heights) if (a < b) assert.ok(ya < yb, `${a} and ${b}`);
  });

  it('is accessible, fits a phone, and complains of nothing but refusals of older blocks', async () => {
    assert.deepEqual(await seriousFaults(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await overflow(page), 0);
    // Before there was a pool the API answers 404, which the browser notes by itself.
    assert.deepEqual(page.complaints.filter((line) => !line.includes('404')), []);
  });
});
