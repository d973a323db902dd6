// The official JS SDK, unchanged but for the address it talks to.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Moralis from 'moralis';
import { known, read } from './expectations.mjs';

const { url, key, wallets, busiest, blocks, contracts } = read();
const api = () => Moralis.EvmApi.transaction;
const without = (rows) => rows.map(({ internal, ...row }) => row);

async function everyPage(request) {
  const pages = [await api().getWalletTransactions(request)];
  while (pages.at(-1).hasNext()) pages.push(await pages.at(-1).next());
  return pages;
}
const rowsOf = (pages) => pages.flatMap((page) => page.raw.result.map(known));

describe('moralis (JS) getWalletTransactions', () => {
  before(() => Moralis.start({ apiKey: key, evmApiBaseUrl: `${url}/api/v2.2` }));

  it('gives every wallet its transactions, newest first', async () => {
    for (const [address, { direct }] of Object.entries(wallets)) {
      const pages = await everyPage({ address, chain: '0x1' });
      assert.deepEqual(rowsOf(pages), without(direct), address);
      assert.equal(pages[0].result.length, Math.min(direct.length, 100));
    }
  });

  it('reads rows into its own objects without loss', async () => {
    const { result } = await api().getWalletTransactions({ address: busiest, chain: '0x1' });
    result.forEach((transaction, i) => {
      const expected = wallets[busiest].direct[i];
      assert.equal(transaction.hash, expected.hash);
      assert.equal(transaction.from.lowercase, expected.from_address);
      assert.equal(transaction.to?.lowercase ?? null, expected.to_address);
      assert.equal(transaction.value.wei, expected.value);
      assert.equal(transaction.nonce.toString(), String(expected.nonce));
      assert.equal(transaction.blockNumber.toString(), String(expected.block_number));
      assert.equal(transaction.blockTimestamp.toISOString(), expected.block_timestamp);
      assert.equal(transaction.contractAddress?.lowercase ?? null, expected.receipt_contract_address);
      assert.equal(transaction.receiptStatus, expected.receipt_status);
      assert.ok(transaction.toJSON().gasUsed > 0);
    });
  });

  it('includes internal transactions, and rows that exist because of them alone', async () => {
    for (const [address, { all }] of Object.entries(wallets)) {
      const pages = await everyPage({ address, chain: '0x1', include: 'internal_transactions' });
      assert.deepEqual(rowsOf(pages), all, address);
      const objects = pages.flatMap((page) => page.result);
      objects.forEach((transaction, i) => {
        assert.deepEqual(transaction.internalTransactions.map((inner) => inner.value.toString()), all[i].internal.map((inner) => inner.value));
        assert.deepEqual(transaction.internalTransactions.map((inner) => inner.to.lowercase), all[i].internal.map((inner) => inner.to));
      });
    }
  });

  for (const limit of [1, 2, 7, 100]) {
    it(`pages by next(), ${limit} a page`, async () => {
      const pages = await everyPage({ address: busiest, chain: '0x1', limit });
      assert.deepEqual(rowsOf(pages), without(wallets[busiest].direct));
      pages.forEach((page, i) => {
        assert.equal(page.raw.page, i);
        assert.equal(page.raw.page_size, limit);
        assert.ok(page.result.length <= limit);
      });
    });
  }

  it('pages oldest first, with internal transactions, by cursor', async () => {
    const rows = [];
    let cursor;
    do {
      const page = await api().getWalletTransactions({ address: busiest, chain: '0x1', limit: 5, order: 'ASC', include: 'internal_transactions', cursor });
      rows.push(...page.raw.result.map(known));
      cursor = page.raw.cursor;
    } while (cursor);
    assert.deepEqual(rows, wallets[busiest].all.toReversed());
  });

  it('takes a block range', async () => {
    const [fromBlock, toBlock] = [6, 20];
    const pages = await everyPage({ address: busiest, chain: '0x1', fromBlock, toBlock, limit: 4 });
    assert.deepEqual(rowsOf(pages), without(wallets[busiest].direct).filter((row) => row.block_number >= fromBlock && row.block_number <= toBlock));
  });

  it('takes the same range by dates, inclusive at both ends, with cursors of its own', async () => {
    const [first, last] = [blocks[6], blocks[20]];
    const pages = await everyPage({ address: busiest, chain: '0x1', fromDate: new Date(first.timestamp * 1000), toDate: new Date(last.timestamp * 1000), limit: 4 });
    assert.deepEqual(rowsOf(pages), without(wallets[busiest].direct).filter((row) => row.block_number >= 6 && row.block_number <= 20));
  });

  it('lets blocks win over dates, with every parameter at once', async () => {
    const request = {
      address: busiest, chain: '0x1', fromBlock: 3, toBlock: 25, fromDate: new Date(blocks[28].timestamp * 1000), toDate: new Date(blocks[1].timestamp * 1000),
      limit: 3, order: 'ASC', include: 'internal_transactions',
    };
    const pages = await everyPage(request);
    assert.deepEqual(rowsOf(pages), wallets[busiest].all.filter((row) => row.block_number >= 3 && row.block_number <= 25).toReversed());
  });

  it('answers an unknown wallet and an empty range with no rows', async () => {
    for (const request of [{ address: '0x00000000000000000000000000000000000000aa' }, { address: busiest, fromBlock: 20, toBlock: 10 }, { address: busiest, fromBlock: 10_000 }]) {
      const page = await api().getWalletTransactions({ chain: '0x1', ...request });
      assert.deepEqual(page.result, []);
      assert.equal(page.hasNext(), false);
    }
  });

  it('lists a contract under its creation', async () => {
    const { raw } = await api().getWalletTransactions({ address: contracts.splitter, chain: '0x1', order: 'ASC', limit: 1 });
    assert.equal(raw.result[0].receipt_contract_address, contracts.splitter);
    assert.equal(raw.result[0].to_address, null);
  });

  it('tells what is wrong with a request', async () => {
    const refused = (request, pattern) => assert.rejects(api().getWalletTransactions({ address: busiest, chain: '0x1', ...request }), pattern);
    await refused({ limit: 0 }, /400.*limit/s);
    await refused({ limit: 1_000_000 }, /400.*limit/s);
    await refused({ cursor: 'not-a-cursor' }, /400.*cursor/s);
    await refused({ chain: '0x89' }, /400/);
    await refused({ order: 'SIDEWAYS' }, /400.*order/s);
  });

  describe('with a wrong key', () => {
    before(() => Moralis.Core.config.set('apiKey', 'wrong-key-wrong-key-wrong-key-wrong-key'));
    after(() => Moralis.Core.config.set('apiKey', key));
    it('is refused with 401', async () => {
      await assert.rejects(api().getWalletTransactions({ address: busiest, chain: '0x1' }), /401/);
    });
  });
});
