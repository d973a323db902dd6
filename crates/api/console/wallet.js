// A wallet: its transactions with what happened inside them, page by page, and what came in and went out.
import { data, total as countRows } from './api.js';
import { flows, legend } from './chart.js';
import { csv, download } from './csv.js';
import { h, icon, put } from './dom.js';
import { buckets, flowOf, stepName } from './flow.js';
import { asNumber, blockRanges, count, plural, time, units } from './format.js';
import { lookup, remember } from './lookup.js';
import { badge, block, busy, button, card, checkbox, copyable, coverageNote, empty, failure, field, loading, mono, select, stat, stats, table, transaction, wallet as walletLink } from './ui.js';

const PAGE = 25;
/** What the chart is made of: the newest rows, in a few requests. */
const CHART_ROWS = 500, CHART_PAGES = 4;
const CSV_PAGES = 100;

export async function show(page, context) {
  const address = context.parts[0]?.toLowerCase();
  if (!address) {
    lookup(page, { title: 'Wallets', kind: 'wallet', chain: context.chain, label: 'Address', text: 'Native transactions of an address, with the internal ones, exact totals, what came in and went out, and a file for your spreadsheet.' });
    return;
  }
  remember('wallet', context.chain, address);
  const filters = readFilters(context.params);
  const parts = { note: h('div', {}), stats: h('div', {}), chart: h('div.chart-box', {}, loading()), rows: h('div', {}, loading()), problem: h('div', {}) };
  const exporting = button('CSV', () => exportAll(exporting, parts.problem, address, context, filters), { glyph: 'down', label: 'CSV of all rows' });
  put(page,
    h('div.title-row', {}, h('h1', {}, 'Wallet'), h('span.address', {}, mono(address), copyable(address, 'address'))),
    filterForm(filters, address, context), parts.problem, parts.note, parts.stats,
    card(null, {}, parts.chart),
    card('Transactions', { flush: true, actions: [exporting] }, parts.rows));
  await Promise.all([pages(parts, address, context, filters), chart(parts.chart, address, context, filters)]);
}

const FILTERS = ['from_date', 'to_date', 'from_block', 'to_block', 'order'];

function readFilters(params) {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? '']));
  return { ...filters, internal: params.get('internal') !== 'no' };
}

const asked = (context, filters) => ({
  chain: context.chain, ...Object.fromEntries(FILTERS.map((name) => [name, filters[name]])),
  // A day that is named as the last one belongs to it.
  to_date: /^\d{4}-\d\d-\d\d$/.test(filters.to_date) ? `${filters.to_date}T23:59:59Z` : filters.to_date,
  include: filters.internal ? 'internal_transactions' : '',
});

function filterForm(filters, address, context) {
  const from = h('input', { type: 'date', value: filters.from_date }), to = h('input', { type: 'date', value: filters.to_date });
  const low = h('input', { type: 'text', inputmode: 'numeric', value: filters.from_block, size: 10 }), high = h('input', { type: 'text', inputmode: 'numeric', value: filters.to_block, size: 10 });
  const order = select([['DESC', 'Newest first'], ['ASC', 'Oldest first']], filters.order || 'DESC');
  const inside = checkbox('Internal transactions', filters.internal);
  const form = h('form.filters', { 'aria-label': 'Filters' }, field('From', from), field('To', to), field('From block', low), field('To block', high), field('Order', order), inside, button('Apply', null, { type: 'submit', kind: 'primary' }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = { from_date: from.value, to_date: to.value, from_block: low.value.trim(), to_block: high.value.trim(), order: order.value === 'DESC' ? '' : order.value, internal: inside.input.checked ? '' : 'no' };
    const text = new URLSearchParams(Object.entries(chosen).filter(([, value]) => value)).toString();
    location.hash = `#/${context.chain}/wallet/${address}${text ? `?${text}` : ''}`;
  });
  return form;
}

async function pages(parts, address, context, filters) {
  /** The cursor of each page that was seen; the first has none. */
  const cursors = [null];
  let number = 0, total = null;
  const turn = async (to) => {
    put(parts.rows, loading());
    const cursor = cursors[to];
    const params = cursor ? { chain: context.chain, cursor } : { ...asked(context, filters), limit: PAGE };
    try {
      const answer = await data(address, params);
      total ??= await countRows(address, asked(context, filters));
      if (!context.isShown()) return;
      number = to;
      if (answer.cursor) cursors[to + 1] = answer.cursor;
      put(parts.note, coverageNote(answer.note));
      put(parts.stats, stats(stat('Transactions', h('span', { id: 'total', dataset: { total } }, count(total)), filters.internal ? 'direct and inside others' : 'as sender or receiver'), stat('Blocks they rest on', blockRanges(answer.note.indexed))));
      put(parts.rows, rowsTable(answer.result, address, context), pager(answer, { number, total, turn }));
    } catch (error) {
      put(parts.rows, failure(error));
    }
  };
  await turn(0);
}

function pager(answer, { number, total, turn }) {
  if (!total) return null;
  const first = number * PAGE + 1, last = number * PAGE + answer.result.length;
  return h('nav.pager', { 'aria-label': 'Pages of transactions' },
    h('span.muted', {}, `${count(first)}–${count(last)} of ${count(total)}`),
    h('div.actions', {}, button('Newer', () => turn(number - 1), { kind: 'small', disabled: number === 0, label: 'Newer page' }), button('Next', () => turn(number + 1), { kind: 'small', disabled: !answer.cursor, label: 'Next page' })));
}

function direction(row, address) {
  const [out, into] = [row.from_address?.toLowerCase() === address, (row.to_address ?? row.receipt_contract_address)?.toLowerCase() === address];
  if (out && into) return badge('self', 'plain');
  if (out) return badge('out', 'warn');
  if (into) return badge('in', 'good');
  return badge('inside', 'accent', 'Takes part only inside the transaction');
}

function rowsTable(rows, address, context) {
  const chain = context.chainOf();
  const amount = (value) => h('span.tabular', { title: `${value} of the smallest unit`, dataset: { wei: value } }, units(value, chain.decimals));
  const columns = [
    { title: '', label: 'Internal transactions', cell: (row) => unfold(row) },
    { title: 'Time (UTC)', cell: (row) => h('span.tabular', {}, time(row.block_timestamp)) },
    { title: 'Block', numeric: true, cell: (row) => block(context.chain, row.block_number) },
    { title: 'Transaction', cell: (row) => transaction(context.chain, row.hash) },
    { title: '', label: 'Direction', cell: (row) => direction(row, address) },
    { title: 'From', cell: (row) => walletLink(context.chain, row.from_address, row.from_address_label) },
    { title: 'To', cell: (row) => walletLink(context.chain, row.to_address ?? row.receipt_contract_address, row.to_address_label) },
    { title: `Value (${chain.symbol})`, numeric: true, cell: (row) => amount(row.value) },
    { title: 'Fee', numeric: true, cell: (row) => (row.transaction_fee ? h('span.muted.tabular', {}, Number(row.transaction_fee).toPrecision(3)) : '–') },
    { title: 'Status', cell: (row) => (row.receipt_status === '0' ? badge('failed', 'bad') : badge('ok', 'good')) },
  ];
  const view = table(`Transactions of ${address}`, columns, rows, { none: empty('No transactions', 'None of the stored blocks in this range has one of this address. Other filters may find some.'), rowProps: (row) => ({ dataset: { hash: row.hash } }) });
  rows.forEach((row) => {
    const line = view.querySelector(`tr[data-hash="${row.hash}"]`);
    if (line && row.internal_transactions?.length) line.after(innerRows(row, columns.length, context, amount));
  });
  return view;
}

function unfold(row) {
  const inner = row.internal_transactions?.length ?? 0;
  if (!inner) return null;
  const control = h('button.unfold', { type: 'button', 'aria-expanded': 'false', 'aria-label': `Show ${plural(inner, 'internal transaction')}` }, icon('chevron'), h('span.small', {}, count(inner)));
  control.addEventListener('click', () => {
    const line = control.closest('tr').nextElementSibling;
    line.hidden = !line.hidden;
    control.setAttribute('aria-expanded', String(!line.hidden));
  });
  return control;
}

function innerRows(row, width, context, amount) {
  const columns = [
    { title: 'Kind', cell: (one) => badge(String(one.type ?? 'CALL').toLowerCase(), 'plain') },
    { title: 'From', cell: (one) => walletLink(context.chain, one.from) },
    { title: 'To', cell: (one) => walletLink(context.chain, one.to) },
    { title: 'Value', numeric: true, cell: (one) => amount(one.value) },
    { title: 'Gas used', numeric: true, cell: (one) => count(one.gas_used) },
    { title: 'Outcome', cell: (one) => (one.error ? badge(one.error, 'bad') : badge('ok', 'good')) },
  ];
  return h('tr.inner', { hidden: true }, h('td', { colspan: width }, table(`Internal transactions of ${row.hash}`, columns, row.internal_transactions)));
}

async function chart(place, address, context, filters) {
  const chain = context.chainOf();
  try {
    const { rows, isAll } = await collect(address, context, filters, CHART_PAGES);
    if (!context.isShown()) return;
    if (!rows.length) { put(place, empty('Nothing came in or went out', 'There is no transaction to draw.')); return; }
    const { step, all } = buckets(rows, address);
    const sums = all.reduce((sum, one) => ({ received: sum.received + one.received, sent: sum.sent + one.sent }), { received: 0n, sent: 0n });
    const shown = (value) => `${units(value, chain.decimals)} ${chain.symbol}`;
    const points = all.map((one) => ({
      x: one.x, up: asNumber(one.received, chain.decimals), down: asNumber(one.sent, chain.decimals), upExact: one.received, downExact: one.sent,
      text: [time(one.x, false), `received ${shown(one.received)}`, `sent ${shown(one.sent)}`, plural(one.rows, 'transaction')],
    }));
    put(place,
      h('header.card-head', {}, h('h2', {}, `Received and sent per ${stepName(step)}`), h('span.muted.small', {}, isAll ? `all ${plural(rows.length, 'transaction')}` : `the ${filters.order === 'ASC' ? 'oldest' : 'newest'} ${plural(rows.length, 'transaction')}`)),
      h('dl.stats.compact', { dataset: { received: sums.received, sent: sums.sent } }, stat('Received', shown(sums.received)), stat('Sent', shown(sums.sent)), stat('Net', shown(sums.received - sums.sent))),
      flows(`Received and sent per ${stepName(step)}, in ${chain.symbol}`, points, step),
      legend([['up', 'received'], ['down', 'sent, without fees']]));
  } catch (error) {
    if (error.name !== 'AbortError') put(place, failure(error));
  }
}

/** Rows of several pages. */
async function collect(address, context, filters, pagesMax, onPage = () => {}) {
  const rows = [];
  let params = { ...asked(context, filters), limit: CHART_ROWS }, answer = null;
  for (let page = 0; page < pagesMax; page += 1) {
    answer = await data(address, params);
    rows.push(...answer.result);
    onPage(rows.length);
    if (!answer.cursor || !context.isShown()) break;
    params = { chain: context.chain, cursor: answer.cursor };
  }
  return { rows, isAll: !answer.cursor };
}

async function exportAll(control, problem, address, context, filters) {
  await busy(control, problem, async () => {
    const { rows, isAll } = await collect(address, context, filters, CSV_PAGES, (have) => put(problem, loading(plural(have, 'row'))));
    put(problem, !isAll && h('p.muted', {}, `The file holds the first ${count(rows.length)} rows; narrow the range for the rest.`));
    const header = ['time', 'block', 'hash', 'from', 'to', 'value', 'received', 'sent', 'fee', 'status', 'internal_transactions'];
    const lines = rows.map((row) => {
      const { received, sent } = flowOf(row, address);
      return [row.block_timestamp, row.block_number, row.hash, row.from_address, row.to_address, row.value, received, sent, row.transaction_fee, row.receipt_status, row.internal_transactions?.length ?? ''];
    });
    download(`${context.chain}-${address}.csv`, csv(header, lines));
  });
}
