// The official JS SDK's two NFT operations, unchanged but for the address it talks to.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import Moralis from 'moralis';
import { lowest, read } from './expectations.mjs';

const { url, key, trades, blocks } = read();
const DAY = 86_400, STRANGER = '0x00000000000000000000000000000000000000aa';
const api = () => Moralis.EvmApi.nft;
const collections = Object.keys(trades).sort((a, b) => trades[b].length - trades[a].length), [apes] = collections;
const newest = blocks.at(-1).timestamp;

async function everyPage(request) {
  const pages = [await api().getNFTTrades(request)];
  while (pages.at(-1).hasNext()) pages.push(await pages.at(-1).next());
  return pages;
}
/** Of an answered row, what the sender knows. */
const known = ({ marketplace, token_quantities, mixed_order, reconciled, ...row }) => row;
const rowsOf = (pages) => pages.flatMap((page) => page.toJSON().result.map(known));
const rows = (list) => list.map(({ row }) => row);

describe('moralis (JS) getNFTTrades', () => {
  before(async () => { if (!Moralis.Core.isStarted) await Moralis.start({ apiKey: key, evmApiBaseUrl: `${url}/api/v2.2` }); });

  it('gives every contract its trades, newest first, also without a chain', async () => {
    for (const address of collections) {
      assert.ok(trades[address].length > 5);
      assert.deepEqual(rowsOf(await everyPage({ address, chain: '0x1' })), rows(trades[address]));
      assert.deepEqual(rowsOf(await everyPage({ address })), rows(trades[address]));
    }
  });

  it('reads rows into its own objects', async () => {
    const { result } = await api().getNFTTrades({ address: apes, chain: '0x1' });
    result.forEach((trade, i) => {
      const { row } = trades[apes][i];
      assert.equal(trade.transactionHash, row.transaction_hash);
      assert.equal(trade.sellerAddress.lowercase, row.seller_address);
      assert.equal(trade.buyerAddress.lowercase, row.buyer_address);
      assert.equal(trade.tokenAddress.lowercase, row.token_address);
      assert.equal(trade.marketplaceAddress.lowercase, row.marketplace_address);
      assert.equal(trade.price.wei, row.price);
      assert.equal(trade.blockTimestamp.toISOString(), row.block_timestamp);
      assert.deepEqual(trade.tokenIds, row.token_ids);
    });
    assert.equal(result.length, trades[apes].length);
  });

  for (const limit of [1, 2, 7, 100]) {
    it(`pages by next(), ${limit} a page`, async () => {
      const pages = await everyPage({ address: apes, chain: '0x1', limit });
      assert.deepEqual(rowsOf(pages), rows(trades[apes]));
      pages.forEach((page, i) => { assert.equal(page.toJSON().page, i); assert.equal(page.toJSON().page_size, limit); });
    });
  }

  it('pages by cursor, with a marketplace', async () => {
    for (const marketplace of ['opensea', 'looksrare']) {
      const found = [];
      let cursor;
      do {
        const page = await api().getNFTTrades({ address: apes, chain: '0x1', marketplace, limit: 3, cursor });
        found.push(...page.toJSON().result.map(known));
        ({ cursor } = page.pagination);
      } while (cursor);
      const own = trades[apes].filter((trade) => trade.market === marketplace);
      assert.ok(own.length > 3);
      assert.deepEqual(found, rows(own));
    }
    for (const marketplace of ['blur', 'x2y2', '0xprotocol']) assert.deepEqual(rowsOf(await everyPage({ address: apes, marketplace })), []);
  });

  it('takes ranges of blocks and of dates, and lets blocks win, with every parameter at once', async () => {
    const [from, to] = [8, 24], date = (number) => new Date(blocks[number].timestamp * 1000);
    const inside = trades[apes].filter(({ row }) => Number(row.block_number) >= from && Number(row.block_number) <= to);
    assert.ok(inside.length > 3);
    for (const range of [{ fromBlock: from, toBlock: String(to) }, { fromDate: date(from), toDate: date(to) }]) {
      assert.deepEqual(rowsOf(await everyPage({ address: apes, chain: '0x1', limit: 2, ...range })), rows(inside));
    }
    const all = { chain: '0x1', fromBlock: from, toBlock: String(to), fromDate: date(28), toDate: date(1), marketplace: 'opensea', limit: 2, nftMetadata: true };
    assert.deepEqual(rowsOf(await everyPage({ address: apes, ...all })), rows(inside.filter(({ market }) => market === 'opensea')));
  });

  it('answers an unknown contract and an empty range with no rows', async () => {
    for (const request of [{ address: STRANGER }, { address: apes, fromBlock: 20, toBlock: '10' }, { address: apes, fromBlock: 10_000 }]) {
      const page = await api().getNFTTrades({ chain: '0x1', ...request });
      assert.deepEqual(page.toJSON().result, []);
      assert.equal(page.hasNext(), false);
    }
  });

  it('tells what is wrong with a request', async () => {
    const refused = (request, pattern) => assert.rejects(api().getNFTTrades({ address: apes, chain: '0x1', ...request }), pattern);
    await refused({ limit: 0 }, /400.*limit/s);
    await refused({ limit: 501 }, /400.*limit/s);
    await refused({ cursor: 'not-a-cursor' }, /400.*cursor/s);
    await refused({ chain: '0x89' }, /400/);
    await refused({ marketplace: 'ebay' }, /400.*opensea, blur, looksrare, x2y2, 0xprotocol/s);
    await refused({ toBlock: 'latest' }, /400.*to_block/s);
  });
});

describe('moralis (JS) getNFTLowestPrice', () => {
  before(async () => { if (!Moralis.Core.isStarted) await Moralis.start({ apiKey: key, evmApiBaseUrl: `${url}/api/v2.2` }); });

  it('gives the cheapest trade in coin of the days and the marketplace asked for', async () => {
    let found = 0;
    for (const address of collections) for (const days of [undefined, 1, 2, 4, 365]) for (const marketplace of [undefined, 'opensea', 'looksrare']) {
      const own = trades[address].filter(({ market }) => !marketplace || market === marketplace);
      const expected = lowest(own, newest - (days ?? 7) * DAY);
      const answer = await api().getNFTLowestPrice({ address, chain: '0x1', days, marketplace });
      assert.deepEqual(answer && known(answer.raw), expected ?? null, `${address} ${days} ${marketplace}`);
      if (!expected) continue;
      found++;
      assert.equal(answer.result.transactionHash, expected.transaction_hash);
      assert.equal(answer.result.price.wei, expected.price);
      assert.equal(answer.result.tokenAddress.lowercase, address);
      assert.equal(answer.result.blockTimestamp.toISOString(), expected.block_timestamp);
    }
    assert.ok(found > 10, `${found}`);
  });

  it('is null where there is none', async () => {
    assert.equal(await api().getNFTLowestPrice({ address: STRANGER, chain: '0x1' }), null);
    assert.equal(await api().getNFTLowestPrice({ address: apes, chain: '0x1', marketplace: 'blur' }), null);
  });

  it('tells what is wrong with a request', async () => {
    const refused = (request, pattern) => assert.rejects(api().getNFTLowestPrice({ address: apes, chain: '0x1', ...request }), pattern);
    await refused({ days: 0 }, /400.*days/s);
    await refused({ days: 366 }, /400.*days/s);
    await refused({ marketplace: 'ebay' }, /400.*opensea/s);
    await refused({ chain: '0x89' }, /400/);
  });
});
