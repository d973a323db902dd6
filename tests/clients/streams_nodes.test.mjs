// Two nodes that disagree about the newest blocks. Whatever a delivery says of contracts and balances must be so in the block
// that it names, and that only the node which has this block can tell.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rpc } from '../support/http.mjs';
import { sleep, startAnvil, startHeadwater } from '../support/processes.mjs';
import { STREAMS_ENV, startReceiver, until } from '../support/receiver.mjs';
import { Sender } from './sender.mjs';
import { StreamWorld, stranger } from './stream_world.mjs';
import { event, functionAbi, logCall } from './tokens.mjs';

const COIN = { name: 'Trial Coin', symbol: 'TRY', decimals: 6 };

describe('streams of a chain whose nodes disagree', () => {
  const one = new StreamWorld(), two = new StreamWorld(), worlds = [one, two], owner = stranger(), held = new Map();

  before(async () => {
    for (const [at, world] of worlds.entries()) {
      world.anvil = await startAnvil(`streams-nodes-${at}`, ['--timestamp', '1700000000']);
      world.sender = new Sender(world.anvil.url, 3);
      world.matched = async () => {};
      await world.sender.start();
      [world.coin] = await world.deploy(COIN);
    }
    assert.equal(one.sender.blocks.at(-1).hash, two.sender.blocks.at(-1).hash, 'one chain so far');
    one.headwater = await startHeadwater('streams-nodes', [two.anvil.url, one.anvil.url], { env: STREAMS_ENV });
    one.receiver = await startReceiver();
    await one.settled();
  });
  after(async () => { await one.stop(); await two.anvil?.stop(); });

  /** The owner's token and coin change in every block, and are others on the other branch. */
  async function mine(world, value) {
    const { sender, coin } = world;
    await sender.send({ from: sender.actors[1], to: owner, value });
    await sender.send({ from: sender.actors[1], to: coin, data: logCall(event('erc20Transfer', owner, sender.actors[2], 1n), BigInt(owner), value) });
    await sender.mine();
    const { hash, number } = sender.blocks.at(-1), balance = await rpc(world.anvil.url, 'eth_getBalance', [owner, '0x' + number.toString(16)]);
    held.set(hash, { triggers: [{ name: 'held', value: String(value) }], nativeBalances: [{ address: owner, balance: BigInt(balance).toString() }] });
  }

  it('tells what holds in the block that it names', async () => {
    const stream = await one.stream('/nodes', { includeContractLogs: true, getNativeBalances: [{ selectors: ['$from'], type: 'erc20transfer' }],
      triggers: [{ type: 'erc20transfer', contractAddress: '$contract', functionAbi: functionAbi('balanceOf', 'held'), inputs: ['$from'] }] }, [owner]);
    await mine(two, 1_000n);
    for (let round = 1n; round <= 6n; round++) {
      if (round > 1n) await mine(two, 1_000n + round);
      await mine(one, round);
      await sleep(200);
    }
    for (let i = 0; i < 2; i++) await one.sender.mine();
    const last = one.sender.blocks.at(-3);
    await until('the longer branch', () => one.receiver.of(stream.path).some(({ body }) => body.block.hash === last.hash));
    for (const { body } of one.receiver.of(stream.path)) {
      const found = { triggers: body.erc20Transfers[0].triggers, nativeBalances: body.nativeBalances };
      assert.deepEqual({ block: body.block.hash, ...found }, { block: body.block.hash, ...held.get(body.block.hash) });
    }
  });
});
