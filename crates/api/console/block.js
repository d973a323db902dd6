// A block as it is stored, with what proves each field.
import { get, rpc } from './api.js';
import { h, put } from './dom.js';
import { fieldTable } from './fields.js';
import { ago, count, pick, short, time, units } from './format.js';
import { blocksOf, listen } from './live.js';
import { lookup } from './lookup.js';
import { proofTable } from './proof.js';
import { badge, block as blockLink, button, card, copyable, empty, link, mono, notice, stat, stats, table, toneOf, transaction, wallet } from './ui.js';

const ROWS = 100;

export async function show(page, context) {
  const which = context.parts[0];
  if (!which) { newest(page, context); return; }
  const isHash = which.startsWith('0x');
  if (!isHash && !/^\d{1,18}$/.test(which)) throw new Error(`'${which.slice(0, 80)}' is neither a block's number nor its hash.`);
  const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber';
  const answers = await rpc(context.chain, [[method, [isHash ? which : `0x${BigInt(which).toString(16)}`, true]]]);
  if (!context.isShown()) return;
  const [block] = answers;
  if (block instanceof Error) throw block;
  if (!block) { put(page, h('h1', {}, 'Block'), empty('There is no such block', 'No block of this chain has this number or hash.')); return; }
  const number = Number(BigInt(block.number));
  const [rows, status] = await Promise.all([proofTable(), stored(context.chain, number)]);
  if (!context.isShown()) return;
  draw(page, { block, number, rows, status, context, from: answers.from });
}

/** What was proven of it; none where it is not stored, or this key may not see it. */
async function stored(chain, number) {
  try { return await get(`/status/${encodeURIComponent(chain)}/blocks/${number}`); } catch (error) { return { refused: error.message }; }
}

function draw(page, { block, number, rows, status, context, from }) {
  const proven = status.proven ?? [];
  const go = (to) => { location.hash = `#/${context.chain}/block/${to}`; };
  put(page,
    h('div.title-row', {}, h('h1', {}, `Block ${count(number)}`), h('span.address', {}, mono(block.hash), copyable(block.hash, 'hash')),
      h('div.actions', {}, button('Older', () => go(number - 1), { kind: 'small', disabled: number === 0, label: 'Older block' }), button('Newer', () => go(number + 1), { kind: 'small', label: 'Newer block' }))),
    status.refused && notice('warn', `What was proven of this block cannot be told: ${status.refused}`),
    stats(
      stat('Proof', status.level ? badge(status.level, toneOf(status.level)) : '–', proven.length ? `recomputed: ${proven.join(', ')}` : 'nothing was recomputed'),
      stat('Time', `${time(Number(BigInt(block.timestamp)))}`, ago(Number(BigInt(block.timestamp)))),
      stat('Transactions', count(block.transactions.length)),
      stat('Traces', status.traces ?? '–', pick({ consistent: 'agree with transactions and receipts', missing: 'no node could give them', unchecked: 'not checked on this chain' }, status.traces, null)),
      stat('Answered from', from || '–')),
    card('Header', { flush: true, note: 'every field as it is stored' }, fieldTable('Header', 'Block', block, { rows, proven, context, skip: ['transactions'] })),
    card('Transactions', { flush: true, note: block.transactions.length > ROWS ? `the first ${ROWS} of ${count(block.transactions.length)}` : null }, transactions(block, context)));
}

function transactions(block, context) {
  const chain = context.chainOf();
  return table('Transactions of this block', [
    { title: '#', numeric: true, cell: (row) => Number(BigInt(row.transactionIndex)) },
    { title: 'Hash', cell: (row) => transaction(context.chain, row.hash) },
    { title: 'From', cell: (row) => wallet(context.chain, row.from) },
    { title: 'To', cell: (row) => (row.to ? wallet(context.chain, row.to) : badge('creates a contract', 'accent')) },
    { title: `Value (${chain.symbol})`, numeric: true, cell: (row) => units(BigInt(row.value), chain.decimals) },
    { title: 'Input', cell: (row) => (row.input && row.input !== '0x' ? mono(row.input.slice(0, 10)) : h('span.muted', {}, '–')) },
  ], block.transactions.slice(0, ROWS), { none: empty('An empty block', 'Nobody sent anything.'), rowProps: (row) => ({ dataset: { hash: row.hash } }) });
}

/** The newest blocks as they come, and a place to ask for another. */
function newest(page, context) {
  const asking = h('div.stack', {}), list = h('div', {});
  lookup(asking, { title: 'Blocks', kind: 'block', chain: context.chain, label: 'Number or hash', placeholder: '19000000', text: 'A block as it is stored: every field, and what proves it.', accepts: (text) => /^\d{1,18}$/.test(text) || /^0x[0-9a-f]{64}$/i.test(text), wrong: 'A number, or 0x and 64 hex digits.' });
  const draw = () => put(list, card('Newest blocks', { flush: true }, table('Newest blocks', [
    { title: 'Block', numeric: true, cell: (row) => blockLink(context.chain, row.number) },
    { title: 'Time (UTC)', cell: (row) => h('span.tabular', {}, time(row.timestamp)) },
    { title: 'Hash', cell: (row) => link(`#/${context.chain}/block/${row.hash}`, short(row.hash, 12, 8), { class: 'mono' }) },
    { title: 'Transactions', numeric: true, cell: (row) => count(row.transactions) },
    { title: 'Proof', cell: (row) => badge(row.level, toneOf(row.level)) },
    { title: 'Traces', cell: (row) => (row.has_traces ? badge('stored', 'good') : badge('untraced', 'warn')) },
  ], [...blocksOf(context.chain)].reverse().slice(0, 25), { none: empty('No block yet', 'New blocks appear here as they are stored.') })));
  put(page, asking, list);
  draw();
  context.until(listen(draw));
}

