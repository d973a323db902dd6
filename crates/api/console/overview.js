// How the server is: every chain's head and history, the nodes, who reads the journal, the disk.
import { get, post } from './api.js';
import { legend, sparkBars, strip } from './chart.js';
import { h, put } from './dom.js';
import { ago, bytes, count, duration, pick, plural, short } from './format.js';
import { blocksOf, listen } from './live.js';
import { badge, block, button, card, confirm, empty, failure, link, mono, notice, table, toneOf } from './ui.js';

const LOOK_MS = 5000;
const COVERAGE_MS = 20000;
/** How fast history goes is measured over so many looks. */
const LOOKS = 8;

export async function show(page, context) {
  const parts = { problems: h('div.stack', {}), chains: h('div.chain-grid', {}), upstreams: h('div', {}), readers: h('div', {}), disk: h('div', {}) };
  const state = { cards: new Map(), rates: new Map(), context };
  let status;
  try { status = await get('/status'); } catch (error) {
    if (error.status !== 403) throw error;
    put(page, h('h1', {}, 'Overview'), card(null, {}, empty('The overview is for admins here', 'The server’s settings (auth.status) keep it to keys with the admin role. Everything else is at your service.', link(`#/${context.chain}/wallet`, 'Wallets', { class: 'button' }), link('#/streams', 'Streams', { class: 'button' }))));
    return;
  }
  put(page, h('div.title-row', {}, h('h1', {}, 'Overview'), h('p.muted', {}, plural(Object.keys(status.chains).length, 'chain'))), parts.problems, parts.chains,
    h('div.cover-legend', {}, legend([['verified', 'verified'], ['partial', 'partly proven'], ['unverified', 'unverified'], ['none', 'not stored']]), h('span.muted.small', {}, 'by the newest stored block of each piece')),
    parts.upstreams, h('div.two', {}, parts.readers, parts.disk));
  const draw = () => drawAll(parts, state, status);
  draw();
  const look = async () => {
    if (document.hidden) return;
    try { status = await get('/status'); if (context.isShown()) draw(); } catch { /* the next look tells */ }
  };
  const timers = [setInterval(look, LOOK_MS), setInterval(() => document.hidden || state.cards.forEach((one) => one.look()), COVERAGE_MS)];
  context.until(() => timers.forEach(clearInterval));
  context.until(listen((kind, chain) => (chain ? state.cards.get(chain)?.live() : state.cards.forEach((one) => one.live()))));
}

function drawAll(parts, state, status) {
  put(parts.problems, status.problems.map((problem) => notice('bad', h('p', {}, h('strong', {}, problem.chain ? `${problem.chain}: ` : ''), problem.reason), h('p.muted', {}, problem.advice))));
  const names = Object.keys(status.chains);
  parts.chains.classList.toggle('many', names.length > 4);
  if (!names.length) put(parts.chains, empty('No chain yet', 'Start the server with a node: headwater serve --rpc eth=http://127.0.0.1:8545'));
  for (const name of names) {
    if (!state.cards.has(name)) {
      const made = chainCard(name, state.context);
      state.cards.set(name, made);
      parts.chains.append(made.root);
      made.look();
    }
    state.cards.get(name).status(status.chains[name], rate(state, name, status.chains[name]));
  }
  drawUpstreams(parts.upstreams, status, state.context);
  drawReaders(parts.readers, status);
  drawDisk(parts.disk, status.store);
}

/** Blocks of history a second, by what was missing at the looks before. */
function rate(state, name, chain) {
  if (!chain.ingest) return null;
  // What is above our head is no history.
  const missing = Math.max(0, chain.ingest.blocks_missing - (chain.lag_blocks ?? 0));
  const looks = [...(state.rates.get(name) ?? []), { at: Date.now() / 1000, missing }].slice(-LOOKS);
  state.rates.set(name, looks);
  const [first, last] = [looks[0], looks.at(-1)];
  const done = first.missing - last.missing, passed = last.at - first.at;
  return { missing, seconds: done > 0 && passed > 0 ? missing / (done / passed) : null };
}

/** Transactions a second over the newest blocks. */
export function perSecond(blocks) {
  const span = blocks.length > 1 ? blocks.at(-1).timestamp - blocks[0].timestamp : 0;
  if (span <= 0) return null;
  return blocks.slice(1).reduce((sum, one) => sum + one.transactions, 0) / span;
}

function chainCard(name, context) {
  const parts = { head: h('dd', {}), lag: h('dd', {}), pace: h('dd', {}), level: h('span', {}), age: h('dd.note', {}), history: h('div.history', {}), spark: h('div.spark-box', {}), cover: h('div.cover', {}) };
  const root = h('section.card.chain', { dataset: { chain: name } },
    h('header.card-head', {}, h('h2', {}, context.chainOf(name)?.name ?? name), parts.level),
    h('dl.stats.three', {},
      h('div.stat', {}, h('dt', {}, 'Head'), parts.head, parts.age),
      h('div.stat', {}, h('dt', {}, 'Behind the nodes'), parts.lag),
      h('div.stat', {}, h('dt', {}, 'Transactions a second'), parts.pace)),
    parts.spark, parts.history, parts.cover);
  const drawLive = () => {
    const blocks = blocksOf(name), newest = blocks.at(-1);
    if (!newest) return;
    put(parts.head, block(name, newest.number));
    parts.head.dataset.number = newest.number;
    put(parts.age, h('span', { title: newest.hash }, ago(newest.timestamp)));
    put(parts.level, badge(newest.level, toneOf(newest.level), 'What was proven of the newest block'));
    const pace = perSecond(blocks);
    put(parts.pace, pace === null ? '–' : pace < 10 ? pace.toFixed(1) : count(Math.round(pace)));
    put(parts.spark, sparkBars(`Transactions in each of the newest ${blocks.length} blocks`, blocks.map((one) => one.transactions), blocks.map((one) => `Block ${count(one.number)}: ${plural(one.transactions, 'transaction')}`)));
  };
  return {
    root,
    live: drawLive,
    status(chain, history) {
      if (!blocksOf(name).length) {
        put(parts.head, chain.head ? block(name, chain.head.number) : h('span.muted', {}, 'no block yet'));
        put(parts.pace, '–');
        put(parts.level, chain.head && badge(chain.head.level, toneOf(chain.head.level)));
        put(parts.age, chain.head && h('span', { title: chain.head.hash }, ago(chain.head.timestamp)));
      } else drawLive();
      const lag = chain.lag_blocks;
      put(parts.lag, lag === null || lag === undefined ? '–' : lag === 0 ? 'up to date' : plural(lag, 'block'));
      drawHistory(parts.history, chain, history);
    },
    async look() {
      try {
        const { pieces, from, to } = await get(`/coverage/${encodeURIComponent(name)}`);
        if (!context.isShown()) return;
        put(parts.cover,
          strip(`Stored blocks of ${name}, from ${from} to ${to}`, pieces),
          h('div.strip-ends.muted.small', {}, h('span', {}, `block ${count(from)}`), h('span', {}, count(to))));
      } catch { /* the next look tells */ }
    },
  };
}

function drawHistory(place, chain, history) {
  const ingest = chain.ingest;
  if (!ingest) { put(place, h('p.muted.small', {}, `${plural(chain.blocks, 'block')} stored; this chain is not ingested here.`)); return; }
  const missing = history?.missing ?? 0, stored = chain.blocks;
  const share = stored + missing > 0 ? stored / (stored + missing) : 0;
  const floor = Math.floor(share * 1000) / 10;
  const left = missing === 0 ? 'complete' : history?.seconds ? `about ${duration(history.seconds)} left` : 'measuring the pace';
  put(place,
    h('div.history-line', {}, h('span', {}, 'History'), h('span.muted', {}, `${floor} % · ${left}`)),
    h('progress', { value: share, max: 1, 'aria-label': `History of this chain: ${floor} percent stored` }),
    h('p.muted.small', {}, `${plural(stored, 'block')} stored${missing ? `, ${count(missing)} to go` : ''}`));
  place.dataset.blocks = stored;
}

const STATE_TONES = { healthy: 'good', starting: 'plain', lagging: 'warn', slow: 'warn', rate_limited: 'warn', drained: 'warn', draining: 'warn' };

function drawUpstreams(place, status, context) {
  const rows = Object.entries(status.chains).flatMap(([chain, one]) => (one.upstreams?.upstreams ?? []).map((upstream) => ({ chain, ...upstream })));
  const isAdmin = context.session.role === 'admin';
  const open = new Set([...place.querySelectorAll('details[open]')].map((node) => node.dataset.key));
  const act = async (row, action, control) => {
    if (action === 'drain' && !await confirm(`Drain ${row.name}?`, 'Nothing new is sent to this node until it is tried again.', 'Drain')) return;
    control.disabled = true;
    try { await post(`/admin/v1/upstreams/${encodeURIComponent(row.chain)}/${encodeURIComponent(row.name)}/${action}`); } catch (error) { put(place, failure(error)); }
  };
  const columns = [
    { title: 'Node', cell: (row) => [h('strong', {}, row.name), row.url !== row.name && h('div.muted.small', {}, row.url)] },
    { title: 'Chain', cell: (row) => row.chain },
    { title: 'State', cell: (row) => [badge(row.state.replaceAll('_', ' '), pick(STATE_TONES, row.state, 'bad'), row.reason), row.reason && row.reason !== row.state && h('div.muted.small', {}, row.reason)] },
    { title: 'Latency p50 / p95', numeric: true, cell: (row) => (row.latency_p50_ms === null ? '–' : `${ms(row.latency_p50_ms)} / ${ms(row.latency_p95_ms)}`) },
    { title: 'Behind', numeric: true, cell: (row) => (row.lag_blocks === null ? '–' : count(row.lag_blocks)) },
    { title: 'Requests', numeric: true, cell: (row) => count(row.requests) },
    { title: 'Errors', numeric: true, cell: (row) => count(Object.values(row.errors).reduce((sum, n) => sum + n, 0)) },
    { title: 'Evidence', cell: (row) => evidence(row, open) },
    isAdmin && { title: '', label: 'Actions', cell: (row) => h('div.row-actions', {}, ['drain', 'retry'].map((action) => { const control = button(action === 'drain' ? 'Drain' : 'Retry', () => act(row, action, control), { kind: 'small', label: `${action} ${row.name}` }); return control; })) },
  ].filter(Boolean);
  put(place, card('Nodes', { flush: true, note: 'upstreams, as they behave' }, table('Nodes', columns, rows, { none: empty('No nodes', 'Chains without a node are answered from what is stored.') })));
}

const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

function evidence(row, open) {
  const key = `${row.chain}/${row.name}`;
  const lines = [
    ...row.evidence.map((one) => h('li', {}, h('strong', {}, `block ${count(one.block)}: ${one.check}`), h('div.small', {}, 'expected ', mono(short(one.expected, 18, 8), one.expected)), h('div.small', {}, 'got ', mono(short(one.got, 18, 8), one.got)), h('div.muted.small', {}, one.at))),
    row.last_error && h('li', {}, h('strong', {}, 'last error'), h('div.small', {}, row.last_error.error), h('div.muted.small', {}, row.last_error.at)),
    row.trace_failure && h('li', {}, h('strong', {}, 'traces'), h('div.small', {}, row.trace_failure)),
  ].filter(Boolean);
  if (!lines.length) return h('span.muted', {}, 'none');
  const label = row.evidence.length ? plural(row.evidence.length, 'lie') : 'details';
  return h('details.evidence', { dataset: { key }, open: open.has(key) }, h('summary', {}, row.evidence.length ? badge(label, 'bad') : label), h('ul', {}, lines));
}

function drawReaders(place, status) {
  const rows = Object.entries(status.chains).flatMap(([chain, one]) => one.readers.map((reader) => ({ chain, ...reader })));
  const columns = [
    { title: 'Reader', cell: (row) => row.name },
    { title: 'Chain', cell: (row) => row.chain },
    { title: 'Next block', numeric: true, cell: (row) => count(row.next_block) },
    { title: 'Behind', numeric: true, cell: (row) => (row.lag_blocks ? plural(row.lag_blocks, 'block') : 'up to date') },
  ];
  put(place, card('Journal readers', { flush: true }, table('Journal readers', columns, rows, { none: empty('Nobody reads the journal', 'Streams do, as soon as there is one.', link('#/streams', 'Streams')) })));
}

/** The largest tables, and what is beside all of them: the engine's log, and room that it took ahead. */
function diskParts(store) {
  const tables = store.tables.filter((one) => one.disk_bytes > 0).sort((a, b) => b.disk_bytes - a.disk_bytes);
  const rest = store.disk_bytes - tables.reduce((sum, one) => sum + one.disk_bytes, 0);
  const shown = tables.slice(0, 8), others = tables.slice(8).reduce((sum, one) => sum + one.disk_bytes, 0);
  if (others > 0) shown.push({ table: 'other tables', disk_bytes: others });
  return { shown, rest };
}

function drawDisk(place, store) {
  const { shown: tables, rest } = diskParts(store);
  const most = Math.max(...tables.map((one) => one.disk_bytes), 1);
  const budget = store.budget;
  put(place, card('Disk', { note: bytes(store.disk_bytes) },
    budget && h('div.history', {}, h('div.history-line', {}, h('span', {}, 'Budget'), h('span.muted', {}, `${budget.used_percent} % of ${bytes(budget.budget_bytes)}${budget.full_in_days ? ` · full in ${Math.round(budget.full_in_days)} days` : ''}`)), h('progress', { value: budget.used_bytes, max: budget.budget_bytes, 'aria-label': 'Disk budget' })),
    h('ul.bars', {}, tables.map((one) => h('li', {}, h('span.bar-name', {}, one.table), h('meter', { value: one.disk_bytes, max: most, 'aria-label': one.table }), h('span.numeric.small', {}, bytes(one.disk_bytes))))),
    rest > 0 && h('p.muted.small', {}, `Beside the tables, logs and spare room: ${bytes(rest)}`)));
}
