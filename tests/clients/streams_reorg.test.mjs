// Blocks are replaced while streams deliver. Whoever knows nothing but the deliveries must end with what the chain holds:
// no dropped block confirmed, every block that took its place told, exactly the old enough ones confirmed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ledgerOf } from '../support/ledger.mjs';
import { until } from '../support/receiver.mjs';
import { CONFIRMATIONS, StreamWorld, plain } from './stream_world.mjs';
import { event, logCall } from './tokens.mjs';

const COIN = { name: 'Trial Coin', symbol: 'TRY', decimals: 6 };
const ALL = { includeNativeTxs: true, includeContractLogs: true, includeInternalTxs: true };

describe('streams through reorgs', () => {
  let world, sender, coin, streams, sent = 0n;
  const events = new Map(), dropped = new Set();

  /** Every third transaction moves a token, so that blocks have logs, too. */
  function planTransfers() {
    const plan = sender.plan.bind(sender);
    sender.plan = () => {
      if (sender.random(3)) return plan();
      const what = event('erc20Transfer', sender.actor(), sender.stranger(), ++sent), data = logCall(what);
      events.set(data, what);
      return { from: sender.actor(), to: coin, data };
    };
  }

  before(async () => {
    world = await StreamWorld.start('streams-reorg', { actors: 6 });
    sender = world.sender;
    [coin] = await world.deploy(COIN);
    planTransfers();
    const watched = sender.actors;
    streams = {
      told: await world.stream('/retractions', { ...ALL, includeRetractions: true }, watched), untold: await world.stream('/no-retractions', ALL, watched),
      late: await world.stream('/confirmed-only', { ...ALL, includeUnconfirmed: false, includeRetractions: true }, watched),
    };
    for (let i = 0; i < CONFIRMATIONS; i++) { await sender.fill(2); await sender.mine(); }
  });
  after(() => world?.stop());

  const received = (stream) => ledgerOf(world.receiver.of(stream.path));
  const blocksFrom = (stream) => sender.blocks.filter((block) => block.number >= stream.fromBlock && block.transactions.length);
  const oldEnough = (block) => block.number + CONFIRMATIONS <= sender.blocks.at(-1).number;
  const hashes = (blocks) => blocks.map((block) => block.hash).toSorted();

  /** All that the chain holds of these wallets in one block. */
  async function bodyOf(stream, block) {
    const watched = (...parties) => [...new Set(parties)].filter((party) => sender.actors.includes(party)), items = { txs: [], logs: [], internals: [] };
    for (const tx of block.transactions) { const what = events.get(tx.data); tx.logs = what ? [{ ...what, contract: coin }] : []; }
    await world.place(block);
    for (const tx of block.transactions) {
      items.txs.push([tx, watched(tx.from, tx.to)]);
      for (const log of tx.logs) if (watched(log.args.from, log.args.to).length) items.logs.push([log, watched(log.args.from, log.args.to)]);
      for (const row of tx.internal.length ? await world.moved(tx) : []) if (watched(row[0], row[1]).length) items.internals.push([tx, row, watched(row[0], row[1])]);
    }
    return world.body(stream, block, items);
  }

  async function compare() {
    const { told, untold, late } = streams;
    const isThere = (stream, blocks, of) => { const found = of(received(stream)); return blocks.every((block) => found.has(block.hash)); };
    for (const stream of [told, untold]) await until(`all blocks at ${stream.path}`, () => isThere(stream, blocksFrom(stream), ({ held }) => held));
    for (const stream of [told, untold, late]) await until(`all confirmations at ${stream.path}`, () => isThere(stream, blocksFrom(stream).filter(oldEnough), ({ confirmed }) => confirmed));
    assert.deepEqual([...received(told).held.keys()].toSorted(), hashes(blocksFrom(told)), 'the chain, and nothing that was dropped');
    for (const stream of [told, untold, late]) {
      const { held, confirmed } = received(stream);
      assert.deepEqual([...confirmed].toSorted(), hashes(blocksFrom(stream).filter(oldEnough)), `confirmed at ${stream.path}`);
      for (const hash of dropped) assert.ok(!confirmed.has(hash), `${hash} was dropped`);
      for (const block of blocksFrom(stream).filter((one) => stream !== late || oldEnough(one))) {
        const expected = { ...await bodyOf(stream, block), confirmed: confirmed.has(block.hash) };
        assert.deepEqual(plain(held.get(block.hash)), plain(expected));
      }
    }
    assert.equal(received(untold).retracted.size + received(late).retracted.size, 0);
  }

  /** One more block after a reorg, as chains do. */
  async function replace(depth) {
    const gone = sender.blocks.slice(-depth);
    await sender.reorg(depth);
    gone.forEach((block) => dropped.add(block.hash));
    await sender.fill(2);
    await sender.mine();
    return gone.filter((block) => block.transactions.length);
  }

  for (let depth = 1; depth <= 10; depth++) {
    it(`a reorg of depth ${depth}: what was told of ${depth === 1 ? 'the block' : 'the blocks'} is taken back`, async () => {
      await sender.fill(2);
      await sender.mine();
      const { told } = streams, last = sender.blocks.at(-1);
      await until('the head', () => received(told).held.has(last.hash));
      const gone = await replace(depth);
      const next = sender.blocks.at(-1);
      await until('the new head', () => received(told).held.has(next.hash));
      const { held, retracted } = received(told);
      assert.deepEqual(hashes(gone.filter((block) => retracted.has(block.hash) && !held.has(block.hash))), hashes(gone), 'each of them was retracted');
    });
  }

  it('the receivers hold what the chain holds', compare);

  it('and so they do after reorgs that follow each other at once', async () => {
    for (const depth of [3, 1, 10, 2, 7, 5]) await replace(depth);
    await sender.fill(3);
    await sender.mine();
    await compare();
  });

  // Killed while blocks are replaced, started again when more of them were: what was on its way may come twice.
  it('and so they do after the server was killed and started in the middle of it', async () => {
    for (const depth of [4, 9]) {
      await sender.fill(2);
      await sender.mine();
      const replacing = replace(depth);
      await world.kill();
      await replacing;
      await replace(2);
      await world.restart();
      await sender.fill(2);
      await sender.mine();
    }
    await compare();
  });

  it('all is confirmed in the end', async () => {
    const last = sender.blocks.at(-1);
    for (let i = 0; i < CONFIRMATIONS; i++) await sender.mine();
    await compare();
    for (const stream of Object.values(streams)) assert.ok(received(stream).confirmed.has(last.hash));
  });
});
