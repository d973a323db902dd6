// The rig's chain at live pace, reorgs and all, while streams watch it: some from the start, some from the middle on with the
// past before it. What they confirmed must be the scenario's own book, and so must what was told and not retracted.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { rpc } from '../support/http.mjs';
import { ledgerOf } from '../support/ledger.mjs';
import { settled, startHeadwater } from '../support/processes.mjs';
import { STREAMS_ENV, startReceiver, until } from '../support/receiver.mjs';
import { rigFolder } from './prepare.mjs';
import { startScenario } from './scenario.mjs';

const full = process.env.HEADWATER_RIG_FULL === '1';
const size = full ? { blocks: 300, txs: 25, blockMs: 500 } : { blocks: 45, txs: 12, blockMs: 100, reorgs: [2, 5, 10] };
const SEED = 3, CONFIRMATIONS = 12, GENESIS_WEI = 10n ** 24n;

const input = (type, name, indexed = false) => ({ type, name, indexed });
const transfer = (isNft) => ({ type: 'event', anonymous: false, name: 'Transfer', inputs: [input('address', 'from', true), input('address', 'to', true), input('uint256', 'value', isNft)] });
const moved = (name, type) => ({ type: 'event', anonymous: false, name, inputs: [input('address', 'operator', true), input('address', 'from', true), input('address', 'to', true), input(type, 'ids'), input(type, 'values')] });
const TRANSFER = 'Transfer(address,address,uint256)', SINGLE = 'TransferSingle(address,address,address,uint256,uint256)', BATCH = 'TransferBatch(address,address,address,uint256[],uint256[])';

/** The scenario's wallets: those that the genesis gave coin. */
function walletsOfGenesis() {
  const { alloc } = JSON.parse(fs.readFileSync(path.join(rigFolder, 'out/genesis.json'), 'utf8'));
  return Object.entries(alloc).filter(([, { balance }]) => BigInt(balance ?? 0) === GENESIS_WEI).map(([address]) => (address.startsWith('0x') ? address : `0x${address}`).toLowerCase());
}

/** Rows of payloads and of the book, in words that are the same in both. */
const told = {
  txs: (body) => body.txs.map((row) => [row.hash, row.nonce, row.transactionIndex, row.fromAddress, row.toAddress, row.value, row.gas, row.gasPrice, row.input, row.type, row.receiptGasUsed, row.receiptStatus].join(' ')),
  erc20: (body) => body.erc20Transfers.map((row) => [row.transactionHash, row.logIndex, row.contract, row.from, row.to, row.value].join(' ')),
  nft: (body) => body.nftTransfers.map((row) => [row.transactionHash, row.logIndex, row.contract, row.tokenContractType, row.operator, row.from, row.to, row.tokenId, row.amount].join(' ')),
  internal: (body) => body.txsInternal.map((row) => [row.transactionHash, row.from, row.to, row.value].join(' ')),
};
const meant = {
  txs: (book) => Object.entries(book.txs).map(([hash, tx]) => ({ ...tx, hash })).map((tx) => ({ block: tx.block, parties: [tx.from, tx.to, tx.status ? tx.contractCreated : null], text: [tx.hash, tx.nonce, tx.index, tx.from, tx.to, tx.value, tx.gasLimit, tx.gasPrice, tx.input, tx.type, tx.gasUsed, tx.status].join(' ') })),
  erc20: (book) => book.erc20Transfers.map((row) => ({ block: row.block, parties: [row.from, row.to, row.token], text: [row.tx, row.logIndex, row.token, row.from, row.to, row.amount].join(' ') })),
  nft: (book) => book.nftTransfers.map((row) => ({ block: row.block, parties: [row.from, row.to, row.operator, row.contract], text: [row.tx, row.logIndex, row.contract, row.std, row.operator, row.from, row.to, row.id, row.amount].join(' ') })),
  internal: (book) => book.internalTxs.filter((row) => row.value !== '0').map((row) => ({ block: row.block, parties: [row.from, row.to], text: [row.tx, row.from, row.to, row.value].join(' ') })),
};

describe(`streams of the rig at live pace, ${size.blocks} blocks of ${size.txs}`, () => {
  let scenario, headwater, receiver, book;
  const streams = [];

  async function ask(method, where, body) {
    const response = await fetch(headwater.url + where, { method, headers: { 'x-api-key': headwater.key, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    const answer = await response.json();
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer;
  }

  /** `addresses` none: all. `fromBlock` none: from the block that the answer names. */
  async function stream(name, kinds, options, addresses) {
    const where = `/rig/${name}`;
    const { id } = await ask('PUT', '/streams/evm', { webhookUrl: receiver.url + where, description: name, tag: name, chainIds: ['0x1'], includeRetractions: true, ...options });
    const answer = addresses && await ask('POST', `/streams/evm/${id}/address`, { address: addresses });
    streams.push({ name, where, kinds, addresses: addresses && new Set(addresses), fromBlock: options.fromBlock ?? answer.fromBlock['0x1'] });
  }

  before(async () => {
    scenario = await startScenario({ seed: SEED, ...size });
    headwater = await startHeadwater('rig-streams', [scenario.url], { env: STREAMS_ENV });
    receiver = await startReceiver();
    const wallets = walletsOfGenesis(), some = (first, count) => wallets.slice(first, first + count), number = async () => Number(await rpc(scenario.url, 'eth_blockNumber'));
    const nativeTxs = { includeNativeTxs: true }, logs = { includeContractLogs: true }, internals = { includeInternalTxs: true };
    assert.ok(wallets.length >= 50);
    await until('the first block', async () => (await (await fetch(`${headwater.url}/status`)).json()).chains.eth?.head);
    await stream('native', ['txs'], nativeTxs, some(5, 15));
    await stream('tokens', ['erc20', 'nft'], logs, some(10, 20));
    await stream('internal', ['internal'], internals, some(20, 30));
    await stream('whole', ['txs', 'internal'], { ...nativeTxs, ...internals, fromBlock: 0 }, wallets);
    const start = await number();
    await until('a third of the chain', async () => (await number()) > start + size.blocks / 3, 600_000);
    await stream('every-erc20', ['erc20'], { ...logs, allAddresses: true, topic0: [TRANSFER], abi: [transfer(false)], fromBlock: 0 });
    await stream('every-nft', ['nft'], { ...logs, allAddresses: true, topic0: [TRANSFER, SINGLE, BATCH], abi: [transfer(true), moved('TransferSingle', 'uint256'), moved('TransferBatch', 'uint256[]')], fromBlock: 0 });
    await stream('late-native', ['txs'], nativeTxs, some(0, 60));
    book = await scenario.expected();
    // Nothing is in these; with them on top all of the book is old enough.
    for (let i = 0; i < CONFIRMATIONS; i++) await rpc(scenario.url, 'evm_mine');
    await settled(headwater, scenario.url);
  });
  after(async () => { await headwater?.stop(); await receiver?.stop(); scenario?.stop(); });

  it('confirmed exactly what the book says, and holds nothing that was dropped', async () => {
    for (const { name, where, kinds, addresses, fromBlock } of streams) {
      const ofStream = (row) => row.block >= fromBlock && (!addresses || row.parties.some((party) => addresses.has(party)));
      const expected = Object.fromEntries(kinds.map((kind) => [kind, meant[kind](book).filter(ofStream)]));
      const blocks = new Set(Object.values(expected).flat().map((row) => book.blocks[row.block].hash));
      const ledger = () => ledgerOf(receiver.of(where));
      await until(`all confirmations of ${name}`, () => { const { confirmed } = ledger(); return [...blocks].every((hash) => confirmed.has(hash)); });
      const { held, confirmed, retracted } = ledger();
      assert.deepEqual([...held.keys()].filter((hash) => !confirmed.has(hash)), [], `${name}: everything is confirmed`);
      // Below its first block a stream may tell of blocks that took the place of others (they count, too), and of nothing else.
      const newer = new Set(book.reorgs.flatMap((reorg) => reorg.newHashes));
      for (const body of held.values()) assert.ok(body.block.number >= fromBlock || newer.has(body.block.hash), `${name}: block ${body.block.number}, from ${fromBlock} on`);
      const bodies = [...held.values()].filter((body) => body.block.number >= fromBlock).toSorted((a, b) => a.block.number - b.block.number);
      for (const kind of kinds) assert.deepEqual(bodies.flatMap(told[kind]).toSorted(), expected[kind].map((row) => row.text).toSorted(), `${name}: ${kind}`);
      for (const body of bodies) { const block = book.blocks[body.block.number]; assert.deepEqual(body.block, { number: String(block.number), hash: block.hash, timestamp: String(block.timestamp) }); }
      console.log(`${name}: ${Object.entries(expected).map(([kind, rows]) => `${rows.length} ${kind}`).join(', ')} in ${bodies.length} blocks from ${fromBlock} on, ${retracted.size} blocks retracted`);
      assert.ok(bodies.length > size.blocks / 10, `${name} saw something`);
    }
  });

  it('lived through the reorgs', () => {
    const gone = new Set(book.reorgs.flatMap((reorg) => reorg.oldHashes));
    assert.equal(book.reorgs.length, size.reorgs?.length ?? 10);
    const { retracted } = ledgerOf(receiver.of('/rig/whole'));
    assert.ok(retracted.size > 0);
    for (const { where } of streams) for (const hash of ledgerOf(receiver.of(where)).retracted) assert.ok(gone.has(hash), `${hash} was never dropped`);
  });
});
