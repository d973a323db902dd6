// The console in a real browser on the demo: every page, and what is drawn is what the API says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { logIn, openBrowser, openPage, overflow, seriousFaults, visit } from '../support/browser.mjs';
import { startDemo } from '../support/processes.mjs';
import { startReceiver, until } from '../support/receiver.mjs';

/** Deep enough that no reorg of the demo takes it away. */
const DEEP = 250;
let demo, browser, page, receiver;
const api = async (path, profile = 'live') => (await fetch(`${demo.url}${path}`, { headers: { 'x-api-key': demo.key, 'x-wire-profile': profile } })).json();
const texts = (selector) => page.locator(selector).allTextContents();
const dataset = (selector, name) => page.locator(selector).evaluateAll((nodes, key) => nodes.map((node) => node.dataset[key]), name);

/** All rows of a wallet up to the deep block. */
async function rowsOf(address) {
  const rows = [];
  let answer = await api(`/api/v2.2/${address}?chain=demo&to_block=${DEEP}&include=internal_transactions&limit=500`);
  for (;;) {
    rows.push(...answer.result);
    if (!answer.cursor) return rows;
    answer = await api(`/api/v2.2/${address}?chain=demo&cursor=${encodeURIComponent(answer.cursor)}`);
  }
}

before(async () => {
  [demo, browser, receiver] = await Promise.all([startDemo(), openBrowser(), startReceiver()]);
  page = await openPage(browser, demo.url, { colorScheme: 'light' });
});
after(async () => {
  await browser?.close();
  await demo?.stop();
  await receiver?.stop();
});

describe('console', () => {
  it('asks for a key, tells when it is wrong, and keeps it nowhere', async () => {
    await page.goto(`${demo.url}/`);
    await page.fill('input[name=key]', 'not a key');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice.bad');
    assert.match(await page.textContent('.notice.bad'), /not known here/);
    // The browser itself notes an answer of 401.
    assert.deepEqual(page.complaints.splice(0).filter((line) => !line.includes('401')), []);
    const started = Date.now();
    await logIn(page, demo.key);
    await page.waitForSelector('.chain [data-number]');
    console.log(`  the overview was there ${Date.now() - started} ms after the page was asked for, login included`);
    const kept = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href]));
    assert.ok(!kept.includes(demo.key), kept);
    assert.ok(!kept.includes('headwater_console'), 'no script can read the cookie');
  });

  it('overview: what is stored, nodes, readers, and new blocks without being asked', async () => {
    const [coverage] = await visit(page, '#/', '/console/api/coverage/demo');
    await page.waitForSelector('.strip .piece');
    const drawn = await dataset('.strip .piece', 'stored');
    assert.deepEqual(drawn.map(Number), coverage.pieces.map((piece) => piece.stored));
    assert.deepEqual(await dataset('.strip .piece', 'level'), coverage.pieces.map((piece) => piece.level ?? ''));
    const status = await api('/status');
    assert.equal(coverage.pieces.reduce((sum, piece) => sum + piece.stored, 0) - status.chains.demo.blocks < 20, true);
    const names = status.chains.demo.readers.map((reader) => reader.name);
    assert.deepEqual((await texts('[aria-label="Journal readers"] tbody td:first-child')).sort(), names.sort());
    const nodes = await texts('[aria-label="Nodes"] tbody td:first-child strong');
    assert.deepEqual(nodes, status.chains.demo.upstreams.upstreams.map((node) => node.name));
    const head = async () => Number(await page.getAttribute('.chain [data-number]', 'data-number'));
    const first = await head();
    await until('a new head', async () => (await head()) > first, 20_000);
    assert.equal(await page.locator('.sparkbars .spark').count(), 60);
    await until('history to be complete', async () => /100 % · complete/.test(await page.textContent('.history')));
  });

  it('wallet: rows, totals and the chart are the API\'s, to the wei', async () => {
    const [first] = await visit(page, `#/demo/wallet/${demo.inner}?to_block=${DEEP}`, `/api/v2.2/${demo.inner}`);
    await page.waitForSelector('.chart .bar');
    const rows = await rowsOf(demo.inner);
    const shown = await dataset('[aria-label^="Transactions of"] > table > tbody > tr:not(.inner)', 'hash');
    assert.deepEqual(shown, rows.slice(0, 25).map((row) => row.hash));
    assert.equal(first.result.length > 0, true);
    const spec = await api(`/api/v2.2/${demo.inner}?chain=demo&to_block=${DEEP}&include=internal_transactions&limit=1`, 'spec');
    assert.equal(await page.getAttribute('#total', 'data-total'), spec.total);
    assert.equal(Number(spec.total), rows.length);
    // Added up anew, from what the API said to somebody else.
    let received = 0n, sent = 0n;
    const me = demo.inner;
    for (const row of rows) {
      const moves = [{ from: row.from_address, to: row.to_address ?? row.receipt_contract_address, value: row.value, error: row.receipt_status === '0' }, ...row.internal_transactions];
      for (const move of moves.filter((one) => !one.error)) {
        if (move.to === me) received += BigInt(move.value);
        if (move.from === me) sent += BigInt(move.value);
      }
    }
    const sums = (await dataset('.stats.compact', 'received')).concat(await dataset('.stats.compact', 'sent'));
    assert.deepEqual(sums.map(BigInt), [received, sent]);
    const sum = (values) => values.reduce((all, one) => all + BigInt(one), 0n);
    assert.equal(sum(await dataset('.bar.up', 'exact')), received, 'the bars add up');
    assert.equal(sum(await dataset('.bar.down', 'exact')), sent);
  });

  it('wallet: internal transactions unfold, pages turn by cursor, and the file has every row', async () => {
    const rows = await rowsOf(demo.inner);
    const at = rows.slice(0, 25).findIndex((row) => row.internal_transactions.length > 0);
    const line = page.locator(`tr[data-hash="${rows[at].hash}"]`);
    await line.locator('.unfold').click();
    const inner = line.locator('xpath=following-sibling::tr[1]').locator('tbody tr');
    assert.equal(await inner.count(), rows[at].internal_transactions.length);
    const moved = await inner.locator('[data-wei]').evaluateAll((nodes) => nodes.map((node) => node.dataset.wei));
    assert.deepEqual(moved, rows[at].internal_transactions.map((one) => one.value));
    await page.click('text=Next');
    await page.waitForFunction((hash) => document.querySelector(`tr[data-hash="${hash}"]`), rows[25].hash);
    assert.deepEqual(await dataset('[aria-label^="Transactions of"] > table > tbody > tr:not(.inner)', 'hash'), rows.slice(25, 50).map((row) => row.hash));
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('text=CSV')]);
    const lines = fs.readFileSync(await file.path(), 'utf8').trim().split('\r\n');
    assert.equal(lines.length, rows.length + 1);
    assert.deepEqual(lines.slice(1).map((text) => text.split(',')[2]), rows.map((row) => row.hash));
  });

  it('NFT collection: every sale is a row and a point, and the lowest price is the API\'s', async () => {
    // Two answers of the same path: the page's rows, and the chart's points.
    const answers = [];
    const keep = async (response) => { if (response.url().includes('/trades?')) answers.push(await response.json()); };
    page.on('response', keep);
    const [lowest] = await visit(page, `#/demo/nft/${demo.nft}`, '/lowestprice');
    await page.waitForSelector('.chart .dot');
    await page.waitForSelector('[aria-label^="Trades of"]');
    page.off('response', keep);
    const [rows, points] = answers.sort((a, b) => a.result.length - b.result.length);
    assert.equal(rows.result.length, 25);
    assert.deepEqual(await dataset('[aria-label^="Trades of"] tbody tr', 'hash'), rows.result.map((trade) => trade.transaction_hash));
    assert.deepEqual(await dataset('.chart .dot', 'y'), points.result.filter((trade) => trade.price !== '0').map((trade) => trade.price));
    assert.equal(await page.getAttribute('#lowest', 'data-wei'), lowest.price);
  });

  it('token: its price, what it was over time, and the pools that say so', async () => {
    const [now] = await visit(page, `#/demo/token/${demo.token}`, `/erc20/${demo.token}/price`);
    await page.waitForSelector('.chart .point', { timeout: 60_000 });
    assert.equal(await page.getAttribute('#price', 'data-usd'), now.usdPriceFormatted);
    assert.match(await page.textContent('h1'), /River/);
    assert.match(await page.textContent('.stats'), /% in 24 hours/);
    assert.deepEqual(await dataset('[aria-label="Pools of this token"] [data-usd]', 'usd'), now.explain.pools.map((pool) => pool.usdPriceFormatted));
    assert.ok(now.explain.pools.length >= 3);
    const drawn = await dataset('.chart .point', 'y');
    assert.ok(drawn.length > 20 && new Set(drawn).size > 10, `${drawn}`);
    const first = await api(`/api/v2.2/erc20/${demo.token}/price?chain=demo&to_block=${DEEP}`);
    assert.ok(Math.abs(Math.log(first.usdPrice / Number(drawn.at(-1)))) < 0.2);
    // Before the pools were opened the API answers 404, which the browser notes by itself.
    page.complaints = page.complaints.filter((line) => !line.includes('404'));
  });

  it('block and transaction: every stored field, and what proves it', async () => {
    const number = `0x${DEEP.toString(16)}`;
    const rpc = async (method, params) => (await (await fetch(`${demo.url}/demo/${demo.key}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).json()).result;
    const block = await rpc('eth_getBlockByNumber', [number, true]);
    const status = await api(`/status/demo/blocks/${DEEP}`);
    await visit(page, `#/demo/block/${DEEP}`, '/console/api/rpc/demo');
    await page.waitForSelector('[aria-label="Header"]');
    assert.deepEqual(await dataset('[aria-label="Header"] tbody tr', 'field'), Object.keys(block).filter((name) => name !== 'transactions'));
    assert.equal(await page.locator('[aria-label="Transactions of this block"] tbody tr').count(), block.transactions.length);
    assert.match(await page.textContent('.stats'), new RegExp(`${status.level}.*${status.proven.join(', ')}`, 's'));
    assert.equal(await page.textContent('[aria-label="Header"] tr[data-field="stateRoot"] .badge'), 'header hash');
    const sent = block.transactions.at(-1);
    const receipt = await rpc('eth_getTransactionReceipt', [sent.hash]);
    await visit(page, `#/demo/tx/${sent.hash}`, '/console/api/rpc/demo');
    await page.waitForSelector('[aria-label="Receipt"]');
    assert.deepEqual(await dataset('[aria-label="Transaction"] tbody tr', 'field'), Object.keys(sent));
    assert.deepEqual(await dataset('[aria-label="Receipt"] tbody tr', 'field'), Object.keys(receipt).filter((name) => name !== 'logs'));
    assert.equal(await page.textContent('[aria-label="Transaction"] tr[data-field="value"] .badge'), 'root');
    assert.equal(await page.textContent('[aria-label="Transaction"] tr[data-field="from"] .badge'), status.proven.includes('senders') ? 'recovery' : 'recovery, sampled');
    assert.equal(await page.locator('.log').count(), receipt.logs.length);
  });

  it('stream of the demo: what was delivered to the receiver inside of it', async () => {
    await visit(page, `#/streams/${demo.stream}`, `/streams/evm/${demo.stream}/deliveries`);
    await page.waitForSelector('tr[data-sequence][data-status="delivered"]');
    const { result } = await api(`/streams/evm/${demo.stream}/deliveries?from=1&limit=1`);
    // The newest row: the oldest leaves the table with the next delivery.
    await page.click('button[aria-label="Payload of delivery ' + (await dataset('tr[data-sequence]', 'sequence'))[0] + '"]');
    assert.equal(JSON.parse(await page.textContent('pre[aria-label^="Payload"]')).streamId, result[0].payload.streamId);
    assert.equal(await page.locator('tr[data-status="failed"], tr[data-status="retrying"]').count(), 0);
  });

  it('streams: create one, see a delivery arrive, fail, and arrive by replay', async () => {
    receiver.answer('/hook', 500);
    await visit(page, '#/streams', '/console/api/streams/evm');
    await page.waitForSelector(`tr[data-stream="${demo.stream}"]`);
    await page.click('text=New stream');
    await page.getByLabel('Description').fill('made in a browser');
    await page.getByLabel('Tag').fill('browser');
    await page.getByLabel('Webhook URL').fill(`${receiver.url}/hook`);
    await page.getByLabel('Addresses').fill(`some text, ${demo.exchange}\n${demo.exchange.toUpperCase().replace('0X', '0x')}`);
    assert.match(await page.textContent('main form'), /1 address found/);
    await page.click('text=Preview a block');
    await page.waitForSelector('pre.json');
    assert.equal(JSON.parse(await page.textContent('pre.json')).chainId, '0x539');
    await page.click('text=Create stream');
    await page.waitForSelector('.crumbs');
    assert.equal(receiver.tests('/hook').length, 1, 'the webhook got its test call');
    const failed = page.locator('tr[data-status="retrying"]').last();
    await failed.waitFor({ timeout: 60_000 });
    assert.match(await failed.locator('.error-text').textContent(), /500/);
    const sequence = await failed.getAttribute('data-sequence');
    receiver.answer('/hook', 200);
    await page.click(`button[aria-label="Replay delivery ${sequence}"]`);
    await page.waitForSelector(`tr[data-sequence="${sequence}"][data-status="delivered"]`, { timeout: 30_000 });
    const arrived = receiver.of('/hook').filter((one) => one.headers['x-sequence'] === sequence);
    assert.equal(arrived.length, 2, 'the one that failed, and the replay');
    await page.click(`button[aria-label="Payload of delivery ${sequence}"]`);
    const payload = JSON.parse(await page.textContent('pre[aria-label^="Payload"]'));
    assert.deepEqual({ ...payload, retries: 0 }, { ...arrived[0].body, retries: 0 });
    await page.click('button:text-is("Pause")');
    await page.waitForSelector('button:text-is("Resume")');
    const [made] = (await api('/streams/evm?limit=100')).result.filter((one) => one.description === 'made in a browser');
    assert.equal(made.status, 'paused');
    await page.click('button:text-is("Delete")');
    await page.click('dialog button:text-is("Delete")');
    await page.waitForSelector('h1:text-is("Streams")');
    assert.equal((await api('/streams/evm?limit=100')).result.some((one) => one.id === made.id), false);
  });

  it('keys: make one, see what it uses, revoke it, and whoever used it is logged out', async () => {
    await visit(page, '#/keys', '/admin/v1/keys');
    await page.getByLabel('Name').fill('for a test');
    await page.getByLabel('Units a second').fill('1000');
    await page.click('text=Create key');
    const key = await page.textContent('.secret .mono');
    const other = await openPage(browser, demo.url);
    await logIn(other, key);
    await other.waitForSelector('.chain [data-number]');
    await visit(other, `#/demo/wallet/${demo.exchange}`, `/api/v2.2/${demo.exchange}`);
    assert.equal(await other.locator('text=tenant · default').count(), 1);
    const row = page.locator('tr', { hasText: 'for a test' });
    await until('its use to be shown', async () => Number((await row.locator('td').nth(6).textContent()).replace(/\D/g, '')) >= 20);
    await row.locator('text=Revoke').click();
    await page.click('dialog button:text-is("Revoke")');
    await other.waitForSelector('input[name=key]', { timeout: 10_000 });
    assert.match(await other.textContent('.login'), /revoked|ended/);
    assert.deepEqual(other.complaints.filter((line) => !line.includes('401')), []);
    await other.context().close();
    await until('it to be gone', async () => (await page.locator('tr', { hasText: 'for a test' }).count()) === 0);
  });

  it('API: every operation of the document, with its shapes, and one can be tried', async () => {
    const [book] = await visit(page, '#/reference', '/openapi.json');
    await page.waitForSelector('.operation');
    const all = Object.values(book.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
    assert.deepEqual((await dataset('.operation', 'operation')).sort(), all.sort());
    const one = page.locator('[data-operation=getWalletTransactions]');
    await one.locator('summary').first().click();
    await one.getByLabel('address').fill(demo.exchange);
    await one.getByLabel('chain').fill('demo');
    await one.getByLabel('limit').fill('2');
    await one.getByLabel('to_block').fill(String(DEEP));
    await one.getByLabel('X-Wire-Profile').selectOption('live');
    await one.getByRole('button', { name: 'Try it' }).click();
    await one.locator('pre[data-status="200"]').waitFor();
    assert.deepEqual(JSON.parse(await one.locator('pre[data-status]').textContent()).result, (await api(`/api/v2.2/${demo.exchange}?chain=demo&limit=2&to_block=${DEEP}`)).result);
    await one.locator('summary', { hasText: '200:' }).click();
    assert.match(await one.locator('details pre.json').first().textContent(), /receipt_gas_used/);
    const call = page.locator('[data-operation=nodeRpc]');
    await call.locator('summary').first().click();
    await call.getByLabel('chain').fill('demo');
    await call.getByRole('button', { name: 'Try it' }).click();
    await page.click('dialog button:text-is("Send")');
    await call.locator('pre[data-status="200"]').waitFor();
    assert.match(JSON.parse(await call.locator('pre[data-status]').textContent()).result, /^0x[0-9a-f]+$/);
    await page.getByLabel('Search operations').fill('lowest');
    assert.deepEqual(await dataset('.operation', 'operation'), ['getNFTLowestPrice']);
  });

  const places = () => ({
    overview: '#/', wallet: `#/demo/wallet/${demo.exchange}?to_block=${DEEP}`, wallets: '#/demo/wallet', collection: `#/demo/nft/${demo.nft}`, token: `#/demo/token/${demo.token}`, 'token, none': '#/demo/token', blocks: '#/demo/block', block: `#/demo/block/${DEEP}`,
    streams: '#/streams', stream: `#/streams/${demo.stream}`, 'new stream': '#/streams/new', keys: '#/keys', reference: '#/reference',
  });

  it('nothing serious to say of its accessibility, light and dark, and nothing is wider than a phone', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const reader = await openPage(browser, demo.url, { colorScheme, viewport: { width: 390, height: 844 } });
      await reader.goto(`${demo.url}/`);
      await reader.waitForSelector('input[name=key]');
      assert.deepEqual(await seriousFaults(reader), [], `log in, ${colorScheme}`);
      await logIn(reader, demo.key);
      for (const [name, hash] of Object.entries(places())) {
        await visit(reader, hash);
        await reader.waitForSelector('main h1');
        await reader.waitForFunction(() => !document.querySelector('.loading'));
        assert.deepEqual(await seriousFaults(reader), [], `${name}, ${colorScheme}`);
        assert.equal(await overflow(reader), 0, `${name}, ${colorScheme}`);
      }
      // The token has no price before its pools were opened.
      assert.deepEqual(reader.complaints.filter((line) => !(line.includes('404') && line.includes('/erc20/'))), []);
      await reader.context().close();
    }
  });

  it('can be used by keyboard alone', async () => {
    await visit(page, '#/');
    await page.waitForSelector('.chain [data-number]');
    await page.reload();
    await page.waitForSelector('.chain [data-number]');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    await page.keyboard.press('/');
    await page.keyboard.type(String(DEEP));
    await page.keyboard.press('Enter');
    await page.waitForSelector(`h1:text-is("Block ${DEEP}")`);
    await visit(page, `#/demo/wallet/${demo.inner}?to_block=${DEEP}`);
    await page.waitForSelector('.chart .bar');
    await page.focus('.chart');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.textContent('.chart .tip'), /received .* ETH/);
    await page.focus('.unfold');
    await page.keyboard.press('Enter');
    assert.equal(await page.getAttribute('.unfold', 'aria-expanded'), 'true');
  });

  it('after all that: no error, no violation of the policy, no request to another host', () => {
    assert.deepEqual(page.complaints, []);
  });
});
