// A token: what it is worth, over time, by which pools, and how far to trust that.
import { data, rpc } from './api.js';
import { line } from './chart.js';
import { h, put } from './dom.js';
import { compact, count, pick, plural, short, time, units, usd } from './format.js';
import { lookup, remember } from './lookup.js';
import { badge, block, card, copyable, coverageNote, empty, failure, loading, mono, notice, stat, stats, table, wallet } from './ui.js';

/** Prices that are asked for to draw one line, so many at once. */
const POINTS = 32, AT_ONCE = 4;

const DOUBTS = {
  thin: 'Little money lies in the pools.', singleSource: 'Only one pool tells.', contested: 'Pools with money disagree.', hooked: 'The pool runs code of its own (hooks).',
  curveUnknown: 'The curve of the pool is not known here.', justMoved: 'The price moved just now.', offPeg: 'The stable coin it is told in is off its peg.',
  moneyDoubtful: 'What the money itself is worth is in doubt.', twoHops: 'It is priced by a token that is priced by another.',
};
const DROPPED = { unknownFactory: 'made by a factory that is not known', otherExchange: 'of another exchange than was asked for', unknownPartner: 'its partner has no price', empty: 'empty', tooThin: 'too little money in it' };

export async function show(page, context) {
  const address = context.parts[0]?.toLowerCase();
  if (!address) {
    lookup(page, { title: 'Token prices', kind: 'token', chain: context.chain, label: 'Contract of the token', text: 'What an ERC20 token is worth in the native coin and in dollars, how that went, and which pools say so.' });
    return;
  }
  remember('token', context.chain, address);
  const heading = h('h1', {}, 'Token');
  const parts = { now: h('div', {}, loading()), chart: h('div.chart-box', {}, loading()), why: h('div', {}), pools: h('div', {}) };
  put(page, h('div.title-row', {}, heading, h('span.address', {}, mono(address), copyable(address, 'address'))), parts.now, card('Price over time', { note: 'US dollars' }, parts.chart), parts.why, parts.pools);
  const answer = await now(parts, heading, address, context);
  if (answer) await history(parts.chart, address, context, answer.note.indexed); else put(parts.chart, empty('Nothing to draw', 'There is no price of this token now.'));
}

async function now(parts, heading, address, context) {
  try {
    const price = await data(`erc20/${address}/price`, { chain: context.chain, include: 'percent_change' });
    if (!context.isShown()) return null;
    if (price.tokenName || price.tokenSymbol) put(heading, price.tokenName ?? price.tokenSymbol, price.tokenSymbol && price.tokenName && h('span.muted.symbol', {}, ` ${price.tokenSymbol}`));
    const native = price.nativePrice;
    const why = price.explain;
    const change = price['24hrPercentChange'];
    put(parts.now, coverageNote(price.note), stats(
      stat('Price', h('span', { id: 'price', dataset: { usd: price.usdPriceFormatted } }, usd(price.usdPriceFormatted)), change ? `${Number(change) > 0 ? '+' : ''}${Number(change).toFixed(2)} % in 24 hours` : 'no price a day before'),
      native && stat(`In ${native.symbol}`, units(native.value, native.decimals, 9)),
      stat('After block', block(context.chain, price.toBlock)),
      why && stat('Confidence', badge(why.confidence, pick({ high: 'good', medium: 'warn', low: 'bad' }, why.confidence, 'plain')), `${plural(why.poolsAgreeing, 'pool')} of ${count(why.poolsConsidered)} agree`)));
    if (why) drawWhy(parts, price, why, context);
    return price;
  } catch (error) {
    if (context.isShown()) put(parts.now, error.status === 404 ? empty('No price', error.message) : failure(error));
    return null;
  }
}

function drawWhy(parts, price, why, context) {
  const pair = (name, value) => [h('dt', {}, name), h('dd', {}, value)];
  put(parts.why, card('Why this price', {},
    why.doubts.length > 0 && notice('warn', h('ul', {}, why.doubts.map((doubt) => h('li', {}, pick(DOUBTS, doubt, doubt))))),
    h('dl.pairs', {},
      pair('Told by', [price.exchangeName, ' ', mono(short(why.pool), why.pool)]),
      pair('Against', wallet(context.chain, why.partner)),
      why.via && pair('By way of', [wallet(context.chain, why.via.token), ` at ${usd(why.via.usdPriceFormatted)}`]),
      pair('Where the state comes from', why.source === 'store' ? 'the stored blocks' : 'a node, asked now'),
      pair('Last change', [block(context.chain, why.changedAtBlock ?? 0), why.changedAt ? h('span.muted', {}, ` ${time(why.changedAt)}`) : '']),
      pair('On either side', `${usd(why.tokenSideLiquidityUsd)} of the token, ${usd(why.partnerSideLiquidityUsd)} of its partner`),
      pair('Moves it by one percent', usd(why.onePercentMoveUsd)))));
  const columns = [
    { title: 'Pool', cell: (row) => [mono(short(row.pool), row.pool), row.pool === why.pool && [' ', badge('tells', 'good')]] },
    { title: 'Exchange', cell: (row) => row.exchangeName ?? mono(short(row.exchangeAddress)) },
    { title: 'Against', cell: (row) => wallet(context.chain, row.partner) },
    { title: 'Price', numeric: true, cell: (row) => (row.usdPriceFormatted ? h('span', { dataset: { usd: row.usdPriceFormatted } }, usd(row.usdPriceFormatted)) : '–') },
    { title: 'Token side', numeric: true, cell: (row) => usd(row.tokenSideLiquidityUsd) },
    { title: 'Partner side', numeric: true, cell: (row) => usd(row.partnerSideLiquidityUsd) },
    { title: 'Changed at', numeric: true, cell: (row) => (row.changedAtBlock ? block(context.chain, row.changedAtBlock) : '–') },
  ];
  put(parts.pools, card('Pools', { flush: true, note: `${plural(why.pools?.length ?? 0, 'pool')} with a say` }, table('Pools of this token', columns, why.pools ?? [], { none: empty('No pools', '') }),
    why.dropped?.length > 0 && h('details.dropped', {}, h('summary', {}, `${plural(why.dropped.length, 'pool')} left out`), h('ul', {}, why.dropped.map((one) => h('li', {}, mono(short(one.pool), one.pool), ` ${pick(DROPPED, one.why, one.why)}`))))));
}

/** Blocks of the newest stored range, evenly. */
export function blocksBetween(from, to, points) {
  const many = Math.min(points, to - from + 1);
  return many < 2 ? [to] : Array.from({ length: many }, (_, n) => Math.round(from + ((to - from) * n) / (many - 1)));
}

async function history(place, address, context, indexed) {
  const [from, to = from] = (indexed ?? '').split(',').at(-1).trim().split('-').map(Number);
  const numbers = blocksBetween(from, to, POINTS);
  const blocks = await rpc(context.chain, numbers.map((number) => ['eth_getBlockByNumber', [`0x${number.toString(16)}`, false]]));
  const times = blocks.map((one) => (one?.timestamp ? Number(BigInt(one.timestamp)) : null));
  const points = new Array(numbers.length);
  let next = 0;
  const work = async () => {
    while (next < numbers.length && context.isShown()) {
      const n = next++;
      points[n] = await priceAt(address, context.chain, { number: numbers[n], x: times[n] });
      put(place, loading(`${points.filter(Boolean).length} of ${numbers.length} prices`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (!context.isShown()) return;
  const drawn = points.filter((point) => point?.x);
  const known = drawn.filter((point) => point.y !== null);
  if (!known.length) { put(place, empty('Nothing to draw', 'No stored block has a price of this token.')); return; }
  put(place, line(`Price in US dollars at ${known.length} blocks`, drawn, { write: (value) => `$${compact(value)}` }), h('p.muted.small', {}, `The price after ${plural(known.length, 'block')} between ${count(numbers[0])} and ${count(numbers.at(-1))}; every point is one answer of the API.`));
}

async function priceAt(address, chain, { number, x }) {
  try {
    const price = await data(`erc20/${address}/price`, { chain, to_block: number });
    return { x, y: Number(price.usdPriceFormatted), exact: price.usdPriceFormatted, text: [usd(price.usdPriceFormatted), `block ${count(number)}`, time(x)] };
  } catch (error) {
    if (error.status === 404 || error.status === 400) return { x, y: null };
    throw error;
  }
}
