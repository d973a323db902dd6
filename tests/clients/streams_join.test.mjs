// Addresses are added to streams while blocks full of their transactions are mined. The answer says from which block on an
// address counts: everything from there on comes, and nothing from before.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { words } from '../support/contracts.mjs';
import { rpc } from '../support/http.mjs';
import { sleep } from '../support/processes.mjs';
import { until } from '../support/receiver.mjs';
import { StreamWorld, stranger } from './stream_world.mjs';
import { event } from './tokens.mjs';

const COIN = { name: 'Trial Coin', symbol: 'TRY', decimals: 6 };
const PLAIN = { includeNativeTxs: true, includeContractLogs: true }, TRACED = { ...PLAIN, includeInternalTxs: true };
const rounds = process.env.HEADWATER_LONG ? 7 : 3;

describe('an address added under load', () => {
  let world, sender, coin;
  before(async () => {
    world = await StreamWorld.start('streams-join');
    sender = world.sender;
    [coin] = await world.deploy(COIN);
  });
  after(() => world?.stop());

  /** Per address a payment, a token and, from inside, coin; what they must show goes to the book. */
  async function mineFull(addresses, book) {
    const items = new Map();
    for (const address of addresses) {
      const from = sender.actor(), { splitter } = sender.contracts, other = stranger();
      const paid = await sender.send({ from, to: address, value: 1n });
      const log = await world.log(coin, event('erc20Transfer', other, address, 3n), { from });
      const inner = await sender.send({ from, to: splitter, value: 8n, data: words(address, other), internal: [] });
      items.set(address, { txs: [paid.hash], logs: [log.hash], internals: [inner.hash] });
    }
    await sender.mine();
    book.push({ block: sender.blocks.at(-1), items });
  }

  it('counts from the block that the answer names, in full', async () => {
    const addresses = [], joins = [], book = [], streams = [];
    for (const options of [PLAIN, TRACED, PLAIN, TRACED]) {
      const first = stranger(), stream = await world.stream(`/join/${streams.length}`, options, [first]);
      addresses.push(first);
      joins.push({ stream, address: first, from: stream.fromBlock });
      streams.push({ ...stream, isTraced: options === TRACED });
    }
    const later = Array.from({ length: rounds * streams.length }, stranger);
    let isMining = true;
    const mining = (async () => { while (isMining) await mineFull([...addresses, ...later], book); })();
    for (const [at, address] of later.entries()) {
      const stream = streams[at % streams.length], before = sender.blocks.length;
      const { fromBlock } = await world.ask('POST', `/streams/evm/${stream.id}/address`, { address });
      const head = Number(await rpc(world.anvil.url, 'eth_blockNumber'));
      assert.ok(fromBlock['0x1'] <= head + 1, `from ${fromBlock['0x1']} while the head is ${head}`);
      joins.push({ stream, address, from: fromBlock['0x1'] });
      await until('two more blocks', () => sender.blocks.length >= before + 2);
      await sleep(sender.random(40));
    }
    isMining = false;
    await mining;
    const last = book.at(-1).block;
    for (const stream of streams) await until(`the last block at ${stream.path}`, () => world.receiver.of(stream.path).some(({ body }) => body.block.hash === last.hash));
    const froms = new Set(joins.map((join) => join.from));
    assert.ok(froms.size > joins.length / 3, `joined at ${froms.size} different blocks`);
    for (const stream of streams) compare(stream, joins.filter((join) => join.stream.id === stream.id), book);
    console.log(`${joins.length} addresses joined ${streams.length} streams at ${froms.size} different blocks of ${book.length}, ${book[0].items.size * 3} transactions each`);
  });

  it('counts in blocks that take the place of older ones, too, and not in those that they replace', async () => {
    const [first, late] = [stranger(), stranger()], stream = await world.stream('/join/reorg', { includeNativeTxs: true }, [first]);
    const pay = async (value) => { for (const to of [first, late]) await sender.send({ from: sender.actors[1], to, value }); };
    for (const value of [1n, 2n, 3n]) { await pay(value); await sender.mine(); }
    await world.matched();
    const { fromBlock } = await world.ask('POST', `/streams/evm/${stream.id}/address`, { address: late });
    assert.equal(fromBlock['0x1'], sender.blocks.length);
    await sender.rollback(2);
    for (const value of [4n, 5n, 6n]) { await pay(value); await sender.mine(); }
    const last = sender.blocks.at(-1);
    await until('the new head', () => world.receiver.of(stream.path).some(({ body }) => body.block.hash === last.hash));
    const valuesTo = (address) => world.receiver.of(stream.path).flatMap(({ body }) => body.txs).filter((tx) => tx.toAddress === address).map((tx) => tx.value);
    assert.deepEqual(valuesTo(first), ['1', '2', '3', '4', '5', '6']);
    assert.deepEqual(valuesTo(late), ['4', '5', '6']);
  });

  /** First words only: a block that was confirmed when its turn came is told once. */
  function compare(stream, joins, book) {
    const told = new Map();
    for (const { body } of world.receiver.of(stream.path)) if (!told.has(body.block.hash)) told.set(body.block.hash, body);
    for (const { block, items } of book) {
      const counting = [...items].filter(([address]) => joins.some((join) => join.address === address && join.from <= block.number)).map(([, what]) => what);
      const body = told.get(block.hash) ?? { txs: [], logs: [], txsInternal: [], erc20Transfers: [] };
      const expected = { txs: counting.flatMap((what) => what.txs), logs: counting.flatMap((what) => what.logs), internals: stream.isTraced ? counting.flatMap((what) => what.internals) : [] };
      const found = { txs: body.txs.map((tx) => tx.hash), logs: body.logs.map((log) => log.transactionHash), internals: body.txsInternal.map((tx) => tx.transactionHash) };
      assert.deepEqual({ block: block.number, ...found }, { block: block.number, ...expected });
      assert.deepEqual(body.erc20Transfers.map((row) => row.transactionHash), expected.logs);
    }
  }
});
