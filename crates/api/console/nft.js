// A collection: its sales, what they went for on which marketplace, and the lowest of the last days.
import { data } from './api.js';
import { legend, scatter } from './chart.js';
import { h, put } from './dom.js';
import { asNumber, count, plural, time, units } from './format.js';
import { lookup, remember } from './lookup.js';
import { badge, block, button, card, copyable, coverageNote, empty, failure, field, loading, mono, select, stat, stats, table, transaction, wallet } from './ui.js';

const PAGE = 25;
const CHART_ROWS = 500;
const MARKETS = ['opensea', 'blur', 'looksrare', 'x2y2', '0xprotocol'];
const ZERO = '0x0000000000000000000000000000000000000000';

export async function show(page, context) {
  const address = context.parts[0]?.toLowerCase();
  if (!address) {
    lookup(page, { title: 'NFT trades', kind: 'nft', chain: context.chain, label: 'Contract of the collection', text: 'Sales of a collection on five marketplaces, held against the transfers of the same transaction, and the lowest price of the last days.' });
    return;
  }
  remember('nft', context.chain, address);
  const filters = { marketplace: context.params.get('marketplace') ?? '', days: context.params.get('days') ?? '7' };
  const parts = { note: h('div', {}), lowest: h('div', {}, loading()), chart: h('div.chart-box', {}, loading()), rows: h('div', {}, loading()) };
  put(page,
    h('div.title-row', {}, h('h1', {}, 'Collection'), h('span.address', {}, mono(address), copyable(address, 'address'))),
    filterForm(filters, address, context), parts.note, parts.lowest,
    card('Prices', {}, parts.chart), card('Trades', { flush: true }, parts.rows));
  await Promise.all([lowest(parts.lowest, address, context, filters), chart(parts.chart, address, context, filters), pages(parts, address, context, filters)]);
}

function filterForm(filters, address, context) {
  const market = select([['', 'All marketplaces'], ...MARKETS.map((name) => [name, name])], filters.marketplace);
  const days = select([['1', '1 day'], ['7', '7 days'], ['30', '30 days'], ['365', '365 days']], filters.days);
  const form = h('form.filters', { 'aria-label': 'Filters' }, field('Marketplace', market), field('Lowest price of', days), button('Apply', null, { type: 'submit', kind: 'primary' }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = new URLSearchParams(Object.entries({ marketplace: market.value, days: days.value === '7' ? '' : days.value }).filter(([, value]) => value)).toString();
    location.hash = `#/${context.chain}/nft/${address}${text ? `?${text}` : ''}`;
  });
  return form;
}

const isNative = (trade, chain) => trade.price_token_address === ZERO || trade.price_token_address?.toLowerCase() === chain.wrapped;

function price(trade, chain) {
  const { slug } = chain;
  if (isNative(trade, chain)) return h('span.tabular', { dataset: { wei: trade.price } }, `${units(trade.price, chain.decimals)} ${chain.symbol}`);
  return h('span.tabular', { title: `Paid in the token ${trade.price_token_address}` }, count(trade.price), ' ', h('a.mono.small', { href: `#/${slug}/token/${trade.price_token_address}` }, 'token'));
}


async function lowest(place, address, context, filters) {
  const chain = context.chainOf();
  try {
    const best = await data(`nft/${address}/lowestprice`, { chain: context.chain, ...filters });
    if (!context.isShown()) return;
    put(place, stats(
      stat(`Lowest price of ${plural(filters.days, 'day')}`, h('span', { id: 'lowest', dataset: { wei: best.price } }, `${units(best.price, chain.decimals)} ${chain.symbol}`), h('span', {}, 'token ', mono(best.token_ids.join(', ').slice(0, 40)), ' · ', transaction(context.chain, best.transaction_hash))),
      stat('Sold', time(best.block_timestamp, false), h('span', {}, 'in block ', block(context.chain, best.block_number)))));
  } catch (error) {
    if (!context.isShown()) return;
    put(place, error.status === 404 ? stats(stat(`Lowest price of ${plural(filters.days, 'day')}`, 'none', 'No sale in the native coin in these days.')) : failure(error));
  }
}

async function chart(place, address, context, filters) {
  const chain = context.chainOf();
  try {
    const answer = await data(`nft/${address}/trades`, { chain: context.chain, marketplace: filters.marketplace, limit: CHART_ROWS });
    if (!context.isShown()) return;
    const drawn = answer.result.filter((trade) => isNative(trade, chain) && trade.price !== '0');
    if (!drawn.length) { put(place, empty('No sales to draw', 'Sales in the native coin appear here.')); return; }
    const series = MARKETS.filter((name) => drawn.some((trade) => trade.marketplace === name));
    const points = drawn.map((trade) => ({
      x: Date.parse(trade.block_timestamp) / 1000, y: asNumber(trade.price, chain.decimals), exact: trade.price, series: trade.marketplace, href: `#/${context.chain}/tx/${trade.transaction_hash}`,
      text: [`${units(trade.price, chain.decimals)} ${chain.symbol}`, trade.marketplace, `token ${trade.token_ids.join(', ').slice(0, 40)}`, time(trade.block_timestamp)],
    }));
    put(place,
      scatter(`Prices of the newest ${points.length} sales, in ${chain.symbol}`, points, series),
      h('div.legend-row', {}, legend(series.map((name, n) => [`series-${n}`, name])), h('span.muted.small', {}, `${plural(points.length, 'sale')}, in ${chain.symbol}${answer.cursor ? '; the newest' : ''}`)));
  } catch (error) {
    if (context.isShown()) put(place, failure(error));
  }
}

async function pages(parts, address, context, filters) {

  const cursors = [null];
  const turn = async (to) => {
    put(parts.rows, loading());
    const params = cursors[to] ? { chain: context.chain, cursor: cursors[to] } : { chain: context.chain, marketplace: filters.marketplace, limit: PAGE };
    try {
      const answer = await data(`nft/${address}/trades`, params);
      if (!context.isShown()) return;
      if (answer.cursor) cursors[to + 1] = answer.cursor;
      put(parts.note, coverageNote(answer.note));
      put(parts.rows, tradesTable(answer.result, address, context), answer.result.length > 0 && h('nav.pager', { 'aria-label': 'Pages of trades' }, h('span.muted', {}, `page ${to + 1}`),
        h('div.actions', {}, button('Newer', () => turn(to - 1), { kind: 'small', disabled: to === 0, label: 'Newer page' }), button('Next', () => turn(to + 1), { kind: 'small', disabled: !answer.cursor, label: 'Next page' }))));
    } catch (error) {
      if (context.isShown()) put(parts.rows, failure(error));
    }
  };
  await turn(0);
}

function tradesTable(rows, address, context) {
  const chain = context.chainOf();
  const columns = [
    { title: 'Time (UTC)', cell: (row) => h('span.tabular', {}, time(row.block_timestamp)) },
    { title: 'Block', numeric: true, cell: (row) => block(context.chain, row.block_number) },
    { title: 'Token', cell: (row) => mono(row.token_ids.length > 3 ? `${row.token_ids.slice(0, 3).join(', ')} … (${row.token_ids.length})` : row.token_ids.join(', '), row.token_ids.slice(0, 50).join(', ')) },
    { title: 'Price', numeric: true, cell: (row) => price(row, chain) },
    { title: 'Marketplace', cell: (row) => row.marketplace },
    { title: 'Seller', cell: (row) => wallet(context.chain, row.seller_address) },
    { title: 'Buyer', cell: (row) => wallet(context.chain, row.buyer_address) },
    { title: 'Transaction', cell: (row) => transaction(context.chain, row.transaction_hash) },
    { title: 'Transfers', cell: (row) => (row.reconciled === false ? badge('not borne out', 'warn', 'Transfers of the same transaction do not bear this sale out') : badge('agree', 'good')) },
  ];
  return table(`Trades of ${address}`, columns, rows, { none: empty('No trades', 'No sale of this collection is in the stored blocks.'), rowProps: (row) => ({ dataset: { hash: row.transaction_hash } }) });
}
