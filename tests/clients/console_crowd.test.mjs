// 500 open pages: every one is told of every block, the chain is followed as before, and what they cost is printed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { sleep, startDemo } from '../support/processes.mjs';
import { until } from '../support/receiver.mjs';

const PAGES = 500, PER_LOGIN = 16;
/** How long is measured, with and without them. */
const MEASURED_MS = process.env.HEADWATER_LONG ? 60_000 : 6_000;
const OURS = { 'x-headwater-console': '1' };
let demo;
before(async () => { demo = await startDemo(); });
after(() => demo?.stop());

/** Seconds of processor time that the server took so far; none where the system does not say. */
function processorSeconds() {
  try {
    const fields = fs.readFileSync(`/proc/${demo.child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch { return null; }
}

async function measured() {
  const before_s = processorSeconds();
  await sleep(MEASURED_MS);
  return before_s === null ? null : ((processorSeconds() - before_s) / (MEASURED_MS / 1000)) * 100;
}

async function logIn() {
  const response = await fetch(`${demo.url}/console/session`, { method: 'POST', headers: { ...OURS, 'content-type': 'application/json' }, body: JSON.stringify({ key: demo.key }) });
  return response.headers.get('set-cookie').split(';')[0];
}

/** An overview that is open: it listens, and asks for the status every five seconds. */
function openOverview(cookie, { listeners, askers }, delay_ms) {
  const page = { newest: 0 };
  const headers = { ...OURS, cookie };
  const listening = http.get(`${demo.url}/console/api/events`, { agent: listeners, headers }, (response) => {
    page.status = response.statusCode;
    response.setEncoding('utf8').on('data', (text) => {
      for (const [, number] of text.matchAll(/"number":(\d+)/g)) page.newest = Math.max(page.newest, Number(number));
    });
  });
  listening.on('error', () => {});
  const ask = () => http.get(`${demo.url}/console/api/status`, { agent: askers, headers: { ...headers, 'accept-encoding': 'gzip' } }, (response) => response.resume()).on('error', () => {});
  let timer = setTimeout(() => { ask(); timer = setInterval(ask, 5_000); }, delay_ms);
  page.close = () => { clearTimeout(timer); clearInterval(timer); listening.destroy(); };
  return page;
}

describe('console: a crowd', () => {
  it(`${PAGES} open pages are told of every block and hold nothing up`, async () => {
    const alone = await measured();
    // One address may hold 512 connections (listen.connections_per_address_max).
    const agents = { listeners: new http.Agent({ maxSockets: Infinity }), askers: new http.Agent({ keepAlive: true, maxSockets: 6 }) };
    const pages = [];
    while (pages.length < PAGES) {
      const cookie = await logIn();
      for (let n = 0; n < PER_LOGIN && pages.length < PAGES; n++) pages.push(openOverview(cookie, agents, (pages.length * 5_000) / PAGES));
    }
    await until('all of them to listen', () => pages.every((page) => page.status === 200 && page.newest > 0));
    const crowded = await measured();
    const { chains: { demo: chain } } = await (await fetch(`${demo.url}/status`)).json();
    assert.ok(chain.lag_blocks <= 1, `the chain is followed: ${chain.lag_blocks} behind`);
    await until('all of them to know the block', () => pages.every((page) => page.newest >= chain.head.number), 20_000);
    pages.forEach((page) => page.close());
    Object.values(agents).forEach((agent) => agent.destroy());
    if (alone !== null) console.log(`  of one processor: ${alone.toFixed(1)} % without pages, ${crowded.toFixed(1)} % with ${PAGES}`);
  });
});
