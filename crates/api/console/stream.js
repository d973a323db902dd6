// One stream: its deliveries as they happen, what they held, why they failed, and what can be done about it.
import { get, post, remove } from './api.js';
import { h, put } from './dom.js';
import { ago, count, pick, plural, time } from './format.js';
import { blocksOf, listen } from './live.js';
import { TONES } from './streams.js';
import { addressesOf } from './stream_form.js';
import { badge, busy, button, card, confirm, copyable, empty, field, link, loading, mono, notice, stat, stats, table } from './ui.js';

const SHOWN = 25;
const LOOK_MS = 2000;
const DELIVERY_TONES = { delivered: 'good', retrying: 'warn', failed: 'bad', waiting: 'plain' };

/** A delivery's number is the end of its id. */
export const sequenceOf = (id) => parseInt(id.replaceAll('-', '').slice(-12), 16);

export async function show(page, context, id) {
  const path = `/streams/evm/${encodeURIComponent(id)}`;
  const parts = { head: h('div', {}), problem: h('div', {}), stats: h('div', {}), deliveries: h('div', {}, loading()), payload: h('div', {}), addresses: h('div', {}), definition: h('div', {}) };
  const state = { path, id, context, parts, chosen: null, errors: new Map(), fingerprint: '' };
  put(page, parts.head, parts.problem, parts.stats, card('Deliveries', { flush: true, note: 'newest first, as they happen' }, parts.deliveries), parts.payload, h('div.two', {}, parts.addresses, parts.definition));
  await refresh(state);
  await Promise.all([deliveries(state), addresses(state)]);
  const look = () => {
    if (!context.isShown() || state.isGone) return;
    state.looking ??= lookAgain(state).finally(() => { state.looking = null; });
  };
  const timer = setInterval(look, LOOK_MS);
  context.until(() => clearInterval(timer));
  context.until(listen((kind) => { if (kind === 'apply') look(); }));
}

async function lookAgain(state) {
  try { await refresh(state); await deliveries(state); } catch { /* the next look tells */ }
}

async function refresh(state) {
  const { path, parts, context, id } = state;
  const [stream, sums] = await Promise.all([get(path), get(`/stats/${encodeURIComponent(id)}`)]);
  if (!context.isShown()) return;
  const text = JSON.stringify([stream, sums]);
  if (text === state.shown) return;
  state.shown = text;
  state.stream = stream;
  drawHead(state, stream);
  put(parts.stats, stats(stat('Delivered', count(sums.totalWebhooksDelivered)), stat('Failed', count(sums.totalWebhooksFailed)), stat('Transactions', count(sums.totalTxsProcessed)), stat('Logs', count(sums.totalLogsProcessed)), stat('Internal', count(sums.totalTxsInternalProcessed))));
  put(parts.definition, card('As it is defined', {}, h('details', {}, h('summary', {}, 'Every field'), h('pre.json', { tabindex: '0' }, JSON.stringify(stream, null, 2)))));
}

function drawHead(state, stream) {
  const { parts, path } = state;
  const turn = (status) => async () => { await busy(change, parts.problem, () => post(`${path}/status`, { status })); state.shown = ''; await refresh(state); };
  const change = stream.status === 'active' ? button('Pause', turn('paused')) : button('Resume', turn('active'), { kind: 'primary' });
  const test = button('Send a block', () => sendBlock(state, test), { label: 'Send a block to the webhook: the newest' });
  const drop = button('Delete', async () => {
    if (!await confirm('Delete this stream?', 'Its deliveries and its history go with it.', 'Delete')) return;
    // Nobody asks for it any more once it is gone.
    state.isGone = true;
    await state.looking;
    const gone = await busy(drop, parts.problem, () => remove(path));
    if (gone) location.hash = '#/streams'; else state.isGone = false;
  }, { kind: 'danger' });
  put(parts.head,
    h('p.crumbs', {}, link('#/streams', 'Streams')),
    h('div.title-row', {}, h('h1', {}, stream.description || 'Stream'), badge(stream.status, pick(TONES, stream.status, 'plain')), stream.tag && badge(stream.tag, 'plain'), h('div.actions', {}, change, test, drop)),
    h('p.muted', {}, h('span.mono.break', {}, stream.webhookUrl), ' ', copyable(stream.webhookUrl, 'URL')),
    stream.status === 'error' && notice('bad', stream.statusMessage || 'Too many webhooks failed: nothing is sent until it is resumed, everything is recorded.'));
}

/** A test call: the newest stored block, as the stream is now. */
async function sendBlock(state, control) {
  const { parts, stream, id, context } = state;
  await busy(control, parts.problem, async () => {
    const chain = context.session.chains.find((one) => one.hex_id === stream.chainIds[0]);
    const number = blocksOf(chain?.slug).at(-1)?.number;
    if (number === undefined) throw new Error('No block of its chain is stored.');
    await post(`/streams/evm/${stream.chainIds[0]}/block-to-webhook/${number}/${encodeURIComponent(id)}`);
    put(parts.problem, notice('good', `Block ${count(number)} was sent to the webhook.`));
  });
}

async function deliveries(state) {
  const { path, parts, context, id } = state;
  const { result: attempts } = await get('/history/logs', { limit: 50, streamId: id });
  if (!context.isShown()) return;
  const newest = attempts.reduce((most, one) => Math.max(most, sequenceOf(one.id)), 0);
  const fingerprint = attempts.slice(0, 50).map((one) => `${one.id}${one.retries}${one.deliveryStatus}${one.createdAt}`).join() + (state.stream?.status ?? '');
  if (fingerprint === state.fingerprint) return;
  state.fingerprint = fingerprint;
  state.errors = new Map();
  state.times = new Map();
  for (const one of [...attempts].reverse()) {
    state.times.set(one.id, one.createdAt);
    if (one.deliveryStatus === 'failed') state.errors.set(one.id, one.errorMessage); else state.errors.delete(one.id);
  }
  const { result } = await get(`${path}/deliveries`, { from: Math.max(1, newest - SHOWN + 1), limit: 2 * SHOWN });
  if (context.isShown()) drawDeliveries(state, result.reverse());
}

function drawDeliveries(state, rows) {
  const { parts, context, id } = state;
  const chainName = (hex) => context.session.chains.find((chain) => chain.hex_id === hex)?.slug ?? hex;
  const replay = async (row, control) => {
    await busy(control, parts.problem, () => post(`/history/replay/${encodeURIComponent(id)}/${encodeURIComponent(row.id)}`));
    state.fingerprint = '';
    await deliveries(state);
  };
  const had = document.activeElement?.dataset?.focus;
  put(parts.deliveries, table('Deliveries', [
    { title: '#', numeric: true, cell: (row) => count(row.sequence) },
    { title: 'Status', cell: (row) => badge(row.status, pick(DELIVERY_TONES, row.status, 'plain')) },
    { title: 'Block', numeric: true, cell: (row) => link(`#/${chainName(row.chainId)}/block/${row.block}`, count(row.block), { class: 'tabular' }) },
    { title: 'Kind', cell: (row) => (row.retracted ? badge('retracted', 'warn') : row.confirmed ? badge('confirmed', 'plain') : badge('unconfirmed', 'plain')) },
    { title: 'Attempts', numeric: true, cell: (row) => count(row.attempts) },
    { title: 'Last attempt (UTC)', cell: (row) => h('span.tabular', { title: state.times.has(row.id) ? ago(state.times.get(row.id)) : null }, state.times.has(row.id) ? time(state.times.get(row.id)) : '–') },
    { title: 'Why it failed', cell: (row) => (row.status === 'delivered' ? h('span.muted', {}, '–') : h('span.break.error-text', {}, state.errors.get(row.id) ?? '–')) },
    { title: '', label: 'Actions', cell: (row) => {
      const again = row.status === 'waiting' ? null : button('Replay', () => replay(row, again), { kind: 'small', label: `Replay delivery ${row.sequence}` });
      const view = button('Payload', () => showPayload(state, row), { kind: 'small', label: `Payload of delivery ${row.sequence}` });
      again?.setAttribute('data-focus', `replay-${row.sequence}`);
      view.setAttribute('data-focus', `view-${row.sequence}`);
      return h('div.row-actions', {}, view, again);
    } },
  ], rows, { none: empty('Nothing was delivered yet', 'As soon as a block concerns this stream, its delivery appears here.'), rowProps: (row) => ({ dataset: { sequence: row.sequence, status: row.status } }) }));
  if (had) parts.deliveries.querySelector(`[data-focus="${CSS.escape(had)}"]`)?.focus();
}

function showPayload(state, row) {
  const { parts } = state;
  const close = button('Close', () => put(parts.payload), { kind: 'small' });
  const text = row.payload ? JSON.stringify(row.payload, null, 2) : null;
  put(parts.payload, card(`Delivery ${count(row.sequence)}`, { actions: [text && copyable(text, 'payload'), close], note: state.errors.get(row.id) ?? row.status },
    h('dl.pairs', {}, h('dt', {}, 'Digest'), h('dd.mono.break', {}, row.digest), h('dt', {}, 'Digest before'), h('dd.mono.break', {}, row.previousDigest)),
    text ? h('pre.json', { tabindex: '0', 'aria-label': `Payload of delivery ${row.sequence}` }, text) : empty('No longer kept', 'Payloads are kept for some days (streams.retention_days).')));
  parts.payload.scrollIntoView({ block: 'nearest' });
}

async function addresses(state) {
  const { path, parts, context } = state;
  const { result, total } = await get(`${path}/address`, { limit: 100 });
  if (!context.isShown()) return;
  const more = h('textarea.mono', { rows: 3, spellcheck: 'false', placeholder: '0x…' }), problem = h('div', {});
  const add = button('Add', () => change('post'), { kind: 'primary' }), drop = button('Remove', () => change('remove'));
  const change = async (how) => {
    const address = addressesOf(more.value);
    const done = await busy(how === 'post' ? add : drop, problem, async () => {
      if (!address.length) throw new Error('There is no address in this text.');
      return how === 'post' ? post(`${path}/address`, { address }) : remove(`${path}/address`, { address });
    });
    if (done) await addresses(state);
  };
  const count_ = total ?? result.length;
  put(parts.addresses, card('Addresses', { note: state.stream?.allAddresses ? 'every address' : plural(count_, 'address', 'addresses') },
    result.length > 0 && h('ul.address-list', { tabindex: '0', 'aria-label': 'Addresses of this stream' }, result.map((one) => h('li', {}, mono(one.address)))),
    field('Add or remove', more, 'Paste as many as you like.'), h('div.actions', {}, add, drop), problem));
}

