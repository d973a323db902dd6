// Compares sales of NFTs and lowest prices with what the scenario's driver sold.
import assert from 'node:assert/strict';
import { ask, tradeRows } from '../support/http.mjs';

const NATIVE = '0x0000000000000000000000000000000000000000', DAY = 86_400;
const MARKETS = ['opensea', 'blur', 'looksrare', 'x2y2', '0xprotocol'];

/** The driver's sales as rows of the spec profile, by contract, newest first. */
function expectedRows(book) {
  const contracts = new Map(Object.keys(book.lowest).map((contract) => [contract, []]));
  const placed = book.trades.map((trade, at) => ({ trade, at, log: Math.min(...trade.logIndexes), index: book.txs[trade.tx].index }));
  placed.sort((a, b) => b.trade.block - a.trade.block || b.index - a.index || b.log - a.log);
  for (const { trade, at, index } of placed) {
    const contract = trade.items[0].contract;
    assert.ok(trade.items.every((item) => item.contract === contract), 'the rig sells tokens of one contract in one order');
    const row = {
      transaction_hash: trade.tx, transaction_index: String(index), token_ids: trade.items.map((item) => item.id), seller_address: trade.seller, buyer_address: trade.buyer,
      token_address: contract, marketplace_address: trade.exchange, price_token_address: trade.paymentToken === 'native' ? NATIVE : trade.paymentToken, price: trade.price,
      block_timestamp: new Date(trade.timestamp * 1000).toISOString().slice(0, 19), block_number: String(trade.block), block_hash: book.txs[trade.tx].blockHash, verified_collection: 'false',
    };
    if (!contracts.has(contract)) contracts.set(contract, []);
    contracts.get(contract).push({ row, at, trade });
  }
  return contracts;
}

/** Every contract: all sales, each market's, pages of several sizes, ranges; and the live profile. */
export async function compareTrades(headwater, book) {
  const [low, high] = [Math.floor(book.meta.head / 4), Math.floor((book.meta.head * 3) / 4)];
  const date = (number) => new Date(book.blocks[number].timestamp * 1000).toISOString();
  let sales = 0;
  for (const [contract, list] of expectedRows(book)) {
    const rows = (chosen) => chosen.map(({ row }) => row);
    for (const limit of [5, 100]) assert.deepEqual(await tradeRows(headwater, contract, { limit }), rows(list), contract);
    for (const marketplace of MARKETS) {
      assert.deepEqual(await tradeRows(headwater, contract, { marketplace, limit: 7 }), rows(list.filter(({ trade }) => trade.marketplace === marketplace)), `${contract} ${marketplace}`);
    }
    const inside = rows(list.filter(({ trade }) => trade.block >= low && trade.block <= high));
    for (const range of [{ from_block: low, to_block: high }, { from_date: date(low), to_date: date(high) }]) assert.deepEqual(await tradeRows(headwater, contract, { limit: 9, ...range }), inside);
    const live = await tradeRows(headwater, contract, {}, 'live');
    assert.deepEqual(live.map((row) => row.token_quantities), list.map(({ trade }) => trade.items.map((item) => item.amount)));
    assert.ok(live.every((row) => row.reconciled === true && row.mixed_order === false), 'every sale is borne out by transfers');
    sales += list.length;
  }
  assert.equal(sales, book.trades.length);
  assert.ok(sales > 0, 'the rig sold something');
}

/** The driver's own answer for all days, and its rule applied to some markets and days. */
export async function compareLowest(headwater, book) {
  const newest = book.blocks[book.meta.head].timestamp, { WETH } = book.contracts;
  const inCoin = ({ trade }) => trade.paymentToken === 'native' || trade.paymentToken === WETH;
  for (const [contract, list] of expectedRows(book)) {
    const cheapest = (chosen) => chosen.filter(inCoin).filter(({ trade }) => BigInt(trade.price) > 0n)
      .reduce((best, one) => (best && BigInt(best.trade.price) < BigInt(one.trade.price) ? best : one), undefined);
    const any = book.lowest[contract]?.anyTrade ?? undefined;
    assert.equal(cheapest(list)?.trade.price, any === undefined ? undefined : book.trades[any].price, 'the rule is the driver\'s');
    for (const days of [1, 7, 365]) for (const marketplace of [undefined, ...MARKETS]) {
      const chosen = list.filter(({ trade }) => trade.timestamp >= newest - days * DAY && (!marketplace || trade.marketplace === marketplace));
      const expected = cheapest(chosen)?.row;
      const { status, body } = await ask(headwater, `nft/${contract}/lowestprice`, { days, ...(marketplace ? { marketplace } : {}) });
      if (!expected) { assert.equal(status, 404); continue; }
      const { token_address, price_token_address, verified_collection, ...row } = expected;
      assert.deepEqual(body, row, `${contract} ${days} ${marketplace}`);
    }
  }
}
