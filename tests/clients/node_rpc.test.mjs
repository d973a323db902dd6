// ethers and viem on the node host: each answer must be what the node itself says.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { JsonRpcProvider, Network } from 'ethers';
import { createPublicClient, http } from 'viem';
import { mainnet } from 'viem/chains';
import { read } from './expectations.mjs';

const { url, key, node, blocks, ask } = read();
const ours = `${url}/eth/${key}`;
const hex = (number) => '0x' + number.toString(16);
const UNKNOWN = '0x' + 'ab'.repeat(32);

/** Parameters of operation 7: every transaction of the chain, one past each block's end, and names. */
const places = [
  ...blocks.flatMap((block) => [...block.transactions.keys(), block.transactions.length].map((index) => [hex(block.number), hex(index)])),
  ['latest', '0x0'], ['latest', '0xffff'], ['earliest', '0x0'], ['pending', '0x0'], [hex(blocks.length + 1000), '0x0'],
];

describe('ethers', () => {
  const network = Network.from(1);
  const provider = (url) => new JsonRpcProvider(url, network, { staticNetwork: network, cacheTimeout: -1 });
  const [mine, theirs] = [provider(ours), provider(node)];
  after(() => { mine.destroy(); theirs.destroy(); });

  it('gets every block by hash, with and without transactions', async () => {
    for (const { hash, number, transactions } of blocks) {
      for (const full of [false, true]) {
        const block = await mine.getBlock(hash, full);
        assert.equal(block.number, number);
        assert.deepEqual(block.transactions, transactions);
        assert.deepEqual(block.toJSON(), (await theirs.getBlock(hash, full)).toJSON());
        assert.deepEqual(await mine.send('eth_getBlockByHash', [hash, full]), await theirs.send('eth_getBlockByHash', [hash, full]));
      }
    }
  });

  it('gets every transaction by block number and index', async () => {
    for (const place of places) {
      const found = await mine.send('eth_getTransactionByBlockNumberAndIndex', place);
      assert.deepEqual(found, await theirs.send('eth_getTransactionByBlockNumberAndIndex', place), place.join());
    }
  });

  it('gets null for what is not there', async () => {
    assert.equal(await mine.getBlock(UNKNOWN), null);
    assert.equal(await mine.send('eth_getTransactionByBlockNumberAndIndex', [hex(blocks.length + 1000), '0x0']), null);
  });

  it('reads the chain through everything else it asks', async () => {
    assert.equal(await mine.getBlockNumber(), blocks.length - 1);
    assert.equal((await mine.getNetwork()).chainId, 1n);
    const hash = blocks.findLast((block) => block.transactions.length).transactions[0];
    assert.deepEqual((await mine.getTransactionReceipt(hash)).toJSON(), (await theirs.getTransactionReceipt(hash)).toJSON());
    assert.equal((await mine.getTransaction(hash)).hash, hash);
  });

  it('is refused with a wrong key', async () => {
    const stranger = new JsonRpcProvider(`${url}/eth/wrong-key`, network, { staticNetwork: network });
    await assert.rejects(stranger.send('eth_blockNumber', []), /401/);
    stranger.destroy();
  });
});

describe('viem', () => {
  const client = (url, batch) => createPublicClient({ chain: mainnet, transport: http(url, { batch, retryCount: 0 }) });
  const [mine, theirs] = [client(ours, false), client(node, false)];
  const batched = client(ours, { batchSize: 50, wait: 10 });

  it('gets every block by hash, with and without transactions', async () => {
    for (const { hash } of blocks) {
      for (const includeTransactions of [false, true]) {
        assert.deepEqual(await mine.getBlock({ blockHash: hash, includeTransactions }), await theirs.getBlock({ blockHash: hash, includeTransactions }));
      }
    }
  });

  it('gets every transaction by block number and index in batches', async () => {
    const known = places.filter(([block]) => block !== 'pending');
    const answers = await Promise.all(known.map((params) => batched.request({ method: 'eth_getTransactionByBlockNumberAndIndex', params })));
    for (const [i, params] of known.entries()) assert.deepEqual(answers[i], await theirs.request({ method: 'eth_getTransactionByBlockNumberAndIndex', params }));
  });

  it('gets blocks in one batch with calls that are forwarded and calls that fail', async () => {
    const [block, number, refused, missing] = await Promise.allSettled([
      batched.getBlock({ blockHash: blocks[3].hash }), batched.getBlockNumber({ cacheTime: 0 }), batched.request({ method: 'anvil_mine', params: [] }), batched.getBlock({ blockHash: UNKNOWN }),
    ]);
    assert.equal(block.value.hash, blocks[3].hash);
    assert.equal(number.value, BigInt(blocks.length - 1));
    assert.match(String(refused.reason), /not|support|exist/i);
    assert.equal(missing.reason.name, 'BlockNotFoundError');
  });

  it('gets a transaction by number and index, by name of the block, and an error of its own for none', async () => {
    const { number } = blocks.findLast((block) => block.transactions.length);
    const place = { blockNumber: BigInt(number), index: 0 };
    assert.deepEqual(await mine.getTransaction(place), await theirs.getTransaction(place));
    await assert.rejects(mine.getTransaction({ blockTag: 'earliest', index: 0 }), { name: 'TransactionNotFoundError' });
    await assert.rejects(mine.getTransaction({ blockNumber: BigInt(number), index: 999 }), { name: 'TransactionNotFoundError' });
  });
});

describe('bare JSON-RPC', () => {
  it('gives a batch its answers with the ids it sent, of their types, and no answer to notifications', async () => {
    const call = (id, params) => ({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method: 'eth_getBlockByHash', params });
    const body = [call('one', [blocks[1].hash, false]), call(undefined, [blocks[1].hash, false]), call(2, [blocks[2].hash, true]), call(null, [UNKNOWN, false])];
    const response = await fetch(ours, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const answers = await response.json();
    assert.deepEqual(answers.map((answer) => answer.id), ['one', 2, null]);
    assert.deepEqual(answers.map((answer) => answer.result?.hash ?? null), [blocks[1].hash, blocks[2].hash, null]);
    assert.deepEqual(answers[1].result, await ask(node, 'eth_getBlockByHash', [blocks[2].hash, true]));
  });
});
