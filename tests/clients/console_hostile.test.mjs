// Text from strangers is shown as text. Every text of the table stands in every place that a stranger can write to: labels,
// names of tokens, exchanges and keys, tags, descriptions, webhook errors, names in an ABI, messages of nodes, fields of blocks.
// The answers are the demo's own, with these texts put in on their way to the browser.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { logIn, openBrowser, openPage, visit } from '../support/browser.mjs';
import { startDemo } from '../support/processes.mjs';
import { startReceiver } from '../support/receiver.mjs';

const RUN = 'window.headwaterRan=1';
const HOSTILE = [
  ['a script', `<script>${RUN}</script>`],
  ['an image that fails', `<img src=x onerror="${RUN}">`],
  ['SVG that loads', `<svg onload="${RUN}">`],
  ['a frame', `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`],
  ['a link that runs', `<a href="javascript:${RUN}">click</a>`],
  ['a URL that runs', `javascript:${RUN}`],
  ['data that is a page', `data:text/html,<script>${RUN}</script>`],
  ['the end of an attribute', `" onmouseover="${RUN}" x="`],
  ['the end of an attribute, once quoted', `' onfocus='${RUN}' autofocus='`],
  ['the end of a script', `</script><script>${RUN}</script>`],
  ['the end of a style', `</style><img src=x onerror=${RUN}>`],
  ['the end of a title', `</title><svg/onload=${RUN}>`],
  ['a comment that opens', `<!--<img src="--><img src=x onerror=${RUN}>`],
  ['a template', `<template><img src=x onerror=${RUN}></template>`],
  ['MathML', `<math><mtext><table><mglyph><style><img src=x onerror=${RUN}>`],
  ['a base that moves', '<base href="https://evil.example/">'],
  ['a refresh', '<meta http-equiv="refresh" content="0;url=https://evil.example/">'],
  ['a form', '<form action="https://evil.example/"><button>log in again</button></form>'],
  ['a style', '<style>body{display:none}</style>'],
  ['a picture from elsewhere', '<img src="https://evil.example/pixel.png">'],
  ['entities', `&lt;img src=x onerror=${RUN}&gt;&#x3c;script&#x3e;`],
  ['a template literal', `\${${RUN}}`],
  ['braces of other frameworks', '{{constructor.constructor("window.headwaterRan=1")()}}'],
  ['letters from right to left', '\u202Egnp.exe\u202C<b>'],
  ['letters without width', 'pay\u200Bpal\uFEFF\u2060<i>'],
  ['control characters', 'bell\u0007escape\u001b[31mred'],
  ['a lone half of a pair', '\uD800<u>'],
  ['many marks on one letter', `a${'\u0300'.repeat(40)}<s>`],
  ['a name of every object', '__proto__'],
  ['a formula', '=HYPERLINK("https://evil.example/","click")'],
  ['a very long word', `${'W'.repeat(4000)}<hr>`],
];
const texts = HOSTILE.map(([, text]) => text);

let demo, browser, page;
before(async () => {
  [demo, browser] = await Promise.all([startDemo(['--blocks', '60']), openBrowser()]);
  page = await openPage(browser, demo.url);
  await logIn(page, demo.key);
  await page.waitForSelector('.chain [data-number]');
});
after(async () => {
  await browser?.close();
  await demo?.stop();
});

/** Answers of this path come with what `change` makes of them. */
async function tampered(path, change, work) {
  const match = (url) => url.pathname.endsWith(path);
  const under = new Set();
  const answer = async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    await route.fulfill({ response, json: change(json) ?? json });
  };
  await page.route(match, (route) => { const one = answer(route); under.add(one); return one; });
  // Pages look again by themselves: what is under way is answered before the next test.
  try { return await work(); } finally { await Promise.allSettled(under); await page.unroute(match); }
}

/** Half a pair cannot leave the browser; it is replaced on both sides. */
const kept = (text) => text.toWellFormed();

/** All texts stand there, none of them as anything else. */
async function shownAsText(where, times = 1) {
  await page.waitForFunction(() => !document.querySelector('.loading'));
  const [content, strange] = await page.evaluate(() => {
    const known = new Set(['headwater_icon']);
    const bad = [...document.querySelectorAll('script, iframe, img, base, meta, style, template, math, object, embed, form[action], a[href^="javascript:" i], a[href^="data:" i], [onerror], [onload], [onmouseover], [onfocus]')]
      .filter((node) => !known.has(node.id) && !(node.tagName === 'SCRIPT' && node.getAttribute('src') === '/console/app.js') && !(node.tagName === 'META' && ['viewport', 'color-scheme'].includes(node.name)) && !(node.tagName === 'META' && node.getAttribute('charset')) && !(node.tagName === 'IMG' && node.getAttribute('src') === '/console/icon.svg'));
    return [document.body.textContent.toWellFormed(), bad.map((node) => node.outerHTML.slice(0, 200))];
  });
  assert.deepEqual(strange, [], where);
  for (const [name, text] of HOSTILE) {
    const found = content.split(kept(text)).length - 1;
    assert.ok(found >= times, `${where}: ${name} is shown ${found} times, not ${times}`);
  }
  assert.equal(await page.evaluate(() => window.headwaterRan), undefined, where);
  assert.deepEqual(page.complaints.splice(0), [], where);
}

const each = (row, change) => texts.map((text, n) => ({ ...structuredClone(row), ...change(text, n) }));
const hash = (n) => `0x${String(n).padStart(64, '0')}`;

describe('hostile text', () => {
  it('is a table of at least 25', () => assert.ok(HOSTILE.length >= 25));

  it('of nodes: names, reasons, errors, evidence; and problems of the server', async () => {
    const change = (status) => {
      const chain = status.chains.demo, node = chain.upstreams.upstreams[0];
      chain.upstreams.upstreams = each(node, (text) => ({ name: text, url: text, reason: text, state: 'lying', last_error: { at: text, error: text }, evidence: [{ at: text, block: 1, check: text, expected: text, got: text }], trace_failure: text }));
      chain.readers = each(chain.readers[0], (text) => ({ name: text }));
      status.problems = texts.map((text) => ({ chain: text, reason: text, advice: text }));
      status.store.tables = texts.slice(0, 8).map((text) => ({ table: text, disk_bytes: 7, rows_estimate: 1 }));
    };
    await tampered('/console/api/status', change, async () => {
      await visit(page, '#/keys', '/admin/v1/keys');
      await visit(page, '#/', '/console/api/status');
      await page.waitForSelector('[aria-label="Nodes"] tbody tr:nth-child(25)');
      await shownAsText('overview', 6);
    });
  });

  it('of labels, and errors inside transactions', async () => {
    const change = (answer) => {
      const row = answer.result?.[0];
      if (row) answer.result = each(row, (text, n) => ({ hash: hash(n), from_address_label: text, to_address_label: text, internal_transactions: [{ type: text, from: demo.exchange, to: demo.exchange, value: '1', gas_used: '1', error: text }] }));
    };
    await tampered(`/api/v2.2/${demo.exchange}`, change, async () => {
      await visit(page, `#/demo/wallet/${demo.exchange}`, `/api/v2.2/${demo.exchange}`);
      await page.waitForSelector('.chart .bar', { state: 'attached' });
      await shownAsText('wallet', 3);
    });
  });

  it('of marketplaces and token ids', async () => {
    const change = (answer) => { answer.result = each(answer.result[0], (text, n) => ({ transaction_hash: hash(n), marketplace: text, token_ids: [text] })); };
    await tampered(`/nft/${demo.nft}/trades`, change, async () => {
      await visit(page, `#/demo/nft/${demo.nft}`, `/nft/${demo.nft}/trades`);
      await page.waitForSelector('[aria-label^="Trades of"]');
      await shownAsText('collection', 2);
    });
  });

  it('of tokens and exchanges', async () => {
    const pool = { pool: '0xaa', exchangeAddress: '0xbb', partner: '0xcc', usdPriceFormatted: '1', tokenSideLiquidityUsd: '1', partnerSideLiquidityUsd: '1', changedAtBlock: 1 };
    const price = {
      tokenName: texts.join(' '), tokenSymbol: texts.join(' '), tokenDecimals: '18', usdPrice: 1, usdPriceFormatted: '1', nativePrice: null, exchangeName: texts.join(' '), toBlock: '1', blockTimestamp: '2026-01-01T00:00:00.000Z',
      explain: { pool: '0xaa', partner: '0xcc', source: 'store', changedAtBlock: 1, changedAt: '2026-01-01T00:00:00.000Z', tokenSideLiquidityUsd: '1', partnerSideLiquidityUsd: '1', onePercentMoveUsd: '1', poolsConsidered: 1, poolsAgreeing: 1, confidence: 'high', doubts: texts, pools: each(pool, (text) => ({ exchangeName: text })), dropped: texts.map((why) => ({ pool: '0x00', why })) },
    };
    const match = (url) => url.pathname.endsWith(`/erc20/${demo.nft}/price`);
    await page.route(match, (route) => route.fulfill({ json: price }));
    await visit(page, `#/demo/token/${demo.nft}`, '/price');
    await page.waitForSelector('.chart .point');
    await shownAsText('token', 5);
    await page.unroute(match);
  });

  it('of blocks: fields that nobody knows, with names and values', async () => {
    const change = (answers) => { for (const [n, text] of texts.entries()) Object.defineProperty(answers[0].result, text, { value: n % 2 ? text : { inner: [text] }, enumerable: true, configurable: true }); };
    await tampered('/console/api/rpc/demo', change, async () => {
      await visit(page, '#/demo/block/7', '/console/api/rpc/demo');
      await page.waitForSelector('[aria-label="Header"]');
      await shownAsText('block', 1);
    });
  });

  it('of streams: descriptions, tags, addresses of webhooks, messages', async () => {
    const change = (answer) => { answer.result = each(answer.result[0], (text, n) => ({ id: hash(n), description: text, tag: text, webhookUrl: text, status: 'error', statusMessage: text, chainIds: [text] })); };
    await tampered('/console/api/streams/evm', change, async () => {
      await visit(page, '#/streams', '/console/api/streams/evm');
      await page.waitForSelector('[aria-label="Streams"]');
      await shownAsText('streams', 5);
    });
  });

  it('of webhooks: why they failed, and what they held', async () => {
    const id = (n) => `00000000-0000-4000-8000-${(n + 1).toString(16).padStart(12, '0')}`;
    const attempt = { streamId: demo.stream, chain: '0x539', webhookUrl: '', tag: '', retries: 0, deliveryStatus: 'failed', blockNumber: 1, createdAt: '2026-01-01T00:00:00.000Z' };
    const delivery = { digest: '0x', previousDigest: '0x', block: '1', chainId: '0x539', confirmed: false, status: 'retrying', attempts: 1 };
    const logs = (answer) => { answer.result = each(attempt, (text, n) => ({ id: id(n), errorMessage: text })); };
    const list = (answer) => { answer.result = each(delivery, (text, n) => ({ id: id(n), sequence: n + 1, payload: { tag: text, [text]: text } })); };
    await tampered('/history/logs', logs, () => tampered(`/${demo.stream}/deliveries`, list, async () => {
      await visit(page, `#/streams/${demo.stream}`, '/deliveries');
      await page.waitForSelector('tr[data-sequence="25"]');
      await shownAsText('stream', 1);
      await page.click('button[aria-label="Payload of delivery 2"]');
      assert.equal(await page.textContent('pre[aria-label^="Payload"]'), JSON.stringify({ tag: texts[1], [texts[1]]: texts[1] }, null, 2));
      await shownAsText('payload', 1);
    }));
  });

  it('of an ABI that is pasted', async () => {
    await visit(page, '#/streams/new');
    await page.waitForSelector('h1:text-is("New stream")');
    await page.getByLabel('Event', { exact: true }).selectOption('abi');
    await page.getByLabel('ABI').fill(JSON.stringify(texts.map((name) => ({ type: 'event', name, inputs: [{ name, type: 'uint256' }] }))));
    await shownAsText('new stream', 1);
  });

  it('of keys: names, tenants, methods', async () => {
    const row = { id: 'id', tenant: '', name: '', role: 'tenant', created_at: '2026-01-01T00:00:00.000Z', units_per_second: null };
    const match = (url) => url.pathname.endsWith('/admin/v1/keys');
    await page.route(match, (route) => route.fulfill({ json: each(row, (text, n) => ({ id: `k${n}`, name: text, tenant: text, role: text, allow_methods: [text] })) }));
    await visit(page, '#/keys', '/admin/v1/keys');
    await page.waitForSelector('[aria-label="API keys"]');
    await shownAsText('keys', 4);
    await page.unroute(match);
  });

  it('that was really written: names of keys, descriptions and tags of streams', async () => {
    const send = (method, path, body) => fetch(`${demo.url}${path}`, { method, headers: { 'x-api-key': demo.key, 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const receiver = await startReceiver();
    const taken = [];
    for (const text of texts.filter((one) => one.length <= 200)) {
      const key = await send('POST', '/admin/v1/keys', { name: text, tenant: text });
      const stream = await send('PUT', '/streams/evm', { webhookUrl: `${receiver.url}/x`, description: text, tag: text, chainIds: ['0x539'], includeNativeTxs: true });
      if (key.ok && stream.ok) taken.push(kept(text));
    }
    assert.ok(taken.length >= 25, `${taken.length} were taken`);
    for (const [hash, wanted] of [['#/keys', '/admin/v1/keys'], ['#/streams', '/console/api/streams/evm']]) {
      await visit(page, hash, wanted);
      await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length >= 25);
      const content = await page.evaluate(() => document.body.textContent.toWellFormed());
      for (const text of taken) assert.ok(content.split(text).length > 2, `${hash}: ${text}`);
      assert.equal(await page.locator('main :is(script, img, iframe, style, base, form[action], b, i, u, hr)').count(), 0, hash);
    }
    await receiver.stop();
    assert.equal(await page.evaluate(() => window.headwaterRan), undefined);
    assert.deepEqual(page.complaints.splice(0), []);
  });

  it('of refusals', async () => {
    for (const text of [texts[1], texts[24]]) {
      const match = (url) => url.pathname.endsWith('/streams/evm');
      await page.route(match, (route) => route.fulfill({ status: 422, json: { message: text, details: { [text]: { message: text } } } }));
      await visit(page, '#/keys', '/admin/v1/keys');
      await visit(page, '#/streams', '/streams/evm');
      await page.waitForSelector('.notice.bad');
      assert.equal((await page.textContent('.notice.bad')).split(text).length - 1, 3);
      await page.unroute(match);
      // The browser notes the answer of 422 by itself.
      assert.deepEqual(page.complaints.splice(0).filter((line) => !line.includes('422')), []);
    }
    assert.equal(await page.evaluate(() => window.headwaterRan), undefined);
  });
});
