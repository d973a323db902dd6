// Headwater follows anvil while transactions are sent, blocks are replaced and blocks vanish. After
// each step every wallet's answer must be what the sender's book says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rpc, walletRows } from '../support/http.mjs';
import { settled, startAnvil, startHeadwater } from '../support/processes.mjs';
import { known } from './expectations.mjs';
import { Sender } from './sender.mjs';

const plain = (rows, withInternal) => rows.map(({ internal, ...row }) => ({
  ...row, value: row.value.toString(), gas: row.gas.toString(), ...(withInternal ? { internal: internal.map((i) => ({ ...i, value: i.value.toString() })) } : {}),
}));

for (const [how, address, env] of [['polling', (anvil) => anvil.url, {}], ['WebSocket', (anvil) => anvil.ws, {}]]) {
  describe(`following anvil by ${how}`, () => {
    let anvil, headwater, sender;
    const everSeen = new Set();

    async function compare() {
      await settled(headwater, anvil.url);
      for (const wallet of sender.addresses()) everSeen.add(wallet);
      // Also wallets that only dropped transactions named: they must be empty again.
      for (const wallet of everSeen) {
        for (const withInternal of [false, true]) {
          const query = withInternal ? { include: 'internal_transactions', limit: 50 } : { limit: 50 };
          const { rows, total } = await walletRows(headwater, wallet, query);
          const expected = plain(sender.rows(wallet, withInternal), withInternal);
          assert.deepEqual(rows.map(known), expected, wallet);
          assert.equal(total, String(expected.length));
        }
      }
      for (const block of sender.blocks) {
        assert.deepEqual(await rpc(`${headwater.url}/eth/${headwater.key}`, 'eth_getBlockByHash', [block.hash, true]), await rpc(anvil.url, 'eth_getBlockByHash', [block.hash, true]));
      }
    }

    before(async () => {
      anvil = await startAnvil(`follow-${how}-node`);
      sender = new Sender(anvil.url);
      await sender.start();
      headwater = await startHeadwater(`follow-${how}`, [address(anvil)], { env });
    });
    after(async () => { await headwater?.stop(); await anvil?.stop(); });

    it('block by block', async () => {
      for (let i = 0; i < 12; i++) { await sender.fill(1 + sender.random(6)); await sender.mine(); }
      await compare();
    });

    for (let depth = 1; depth <= 10; depth++) {
      it(`through a reorg of depth ${depth}`, async () => {
        const before = await settled(headwater, anvil.url);
        const dropped = await sender.reorg(depth);
        // A node with a reorg of equal height announces nothing higher; one more block, as chains do.
        await sender.fill(2);
        await sender.mine();
        await compare();
        const { rows } = dropped.length ? await walletRows(headwater, dropped[0].from) : { rows: [] };
        for (const tx of dropped) assert.ok(!rows.some((row) => row.hash === tx.hash), `${tx.hash} was dropped`);
        await settled(headwater, anvil.url, { reverted: before.ingest.blocks_reverted + depth });
        await sender.fill(3);
        await sender.mine();
      });
    }

    it('through a reorg to a head of the same height, without a block after it', async () => {
      await sender.reorg(3);
      await compare();
    });

    // A head that only steps back may be a node that came late, so nothing is taken back for that;
    // the first block of another branch is what counts, though it is lower than what was there.
    it('through a rollback to a shorter chain', async () => {
      const dropped = await sender.rollback(4);
      await sender.fill(4);
      await sender.mine();
      await compare();
      assert.ok(dropped.length > 0);
    });

    it('through a stop, a reorg meanwhile, and a start', async () => {
      await settled(headwater, anvil.url);
      const ended = await headwater.stop();
      assert.equal(ended.code, 0, 'stops in order');
      await sender.reorg(5);
      await sender.fill(3);
      await sender.mine();
      headwater = await startHeadwater(`follow-${how}`, [address(anvil)], { data: headwater.data, env });
      await compare();
    });
  });
}
