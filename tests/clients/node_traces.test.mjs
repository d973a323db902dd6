// Traces of stored blocks: what the store says is what anvil says, in the dialect in which they were read, and also when the node is gone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as contracts from '../support/contracts.mjs';
import { rpc } from '../support/http.mjs';
import { emptyFolder, settled, startAnvil, startHeadwater } from '../support/processes.mjs';

const hex = (number) => '0x' + number.toString(16);
const CALLS = { tracer: 'callTracer' };
// Each moves value in its own way: nested calls, creations, self-destructs, reverts.
const CODE = Object.values(contracts).filter((code) => typeof code === 'string' && /^([0-9a-f]{2})+$/.test(code));

const DIALECTS = [
  { traces: 'debug_trace_block', method: 'debug_traceBlockByNumber', byHash: 'debug_traceBlockByHash', more: [CALLS], other: ['trace_block', []] },
  { traces: 'trace_block', method: 'trace_block', byHash: 'trace_block', more: [], other: ['debug_traceBlockByNumber', [CALLS]] },
];

let anvil, head;

before(async () => {
  anvil = await startAnvil('traces-node');
  const [from, to] = await rpc(anvil.url, 'eth_accounts');
  const made = [];
  for (const code of CODE) made.push(await rpc(anvil.url, 'eth_sendTransaction', [{ from, data: contracts.initcode(code), gas: '0x100000' }]));
  await rpc(anvil.url, 'evm_mine');
  await rpc(anvil.url, 'evm_mine');
  const data = '0x' + [to, from, '0x7'].map((word) => word.slice(2).padStart(64, '0')).join('');
  for (const hash of made) {
    const { contractAddress } = await rpc(anvil.url, 'eth_getTransactionReceipt', [hash]);
    for (const value of ['0x64', '0x0']) await rpc(anvil.url, 'eth_sendTransaction', [{ from, to: contractAddress, value, data, gas: '0x100000' }]);
  }
  await rpc(anvil.url, 'evm_mine');
  head = Number(await rpc(anvil.url, 'eth_blockNumber'));
});
after(() => anvil?.stop());

/** The answer, and where it came from. */
async function ask(headwater, method, params) {
  const response = await fetch(`${headwater.url}/eth/${headwater.key}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { ...(await response.json()), source: response.headers.get('x-answered-from') };
}

for (const { traces, method, byHash, more, other } of DIALECTS) {
  describe(`traces read by ${traces}`, () => {
    let headwater, blocks;
    before(async () => {
      const config = path.join(emptyFolder(`traces-${traces}-config`), 'headwater.toml');
      fs.writeFileSync(config, `[chains.eth]\nupstreams = [{ url = "${anvil.url}", traces = "${traces}" }]\n`);
      headwater = await startHeadwater(`traces-${traces}`, [], { args: ['--config', config] });
      await settled(headwater, anvil.url);
      blocks = [];
      for (let number = 1; number <= head; number++) {
        const block = await rpc(anvil.url, 'eth_getBlockByNumber', [hex(number), false]);
        blocks.push({ number, block, expected: await rpc(anvil.url, method, [hex(number), ...more]), otherwise: await rpc(anvil.url, other[0], [hex(number), ...other[1]]) });
      }
      assert.ok(blocks.some(({ expected }) => expected.length > 10));
    });
    after(() => headwater?.stop());

    it('says from the store what the node says', async () => {
      for (const { number, block, expected } of blocks.filter(({ block }) => block.transactions.length)) {
        for (const [name, params] of [[method, [hex(number), ...more]], [byHash, [block.hash, ...more]]]) {
          const { result, source } = await ask(headwater, name, params);
          assert.deepEqual(result, expected, `${name} ${number}`);
          assert.equal(source, 'store', `${name} ${number}`);
        }
      }
    });

    it('asks the node for the other dialect and for other tracers', async () => {
      for (const { number, otherwise } of blocks) {
        assert.deepEqual((await ask(headwater, other[0], [hex(number), ...other[1]])).result, otherwise, `${number}`);
      }
      const top = [hex(head), { ...CALLS, tracerConfig: { onlyTopCall: true } }];
      const { result, source } = await ask(headwater, 'debug_traceBlockByNumber', top);
      assert.deepEqual(result, await rpc(anvil.url, 'debug_traceBlockByNumber', top));
      assert.notEqual(source, 'store');
    });

    it('says the same when the node is gone', async () => {
      await headwater.stop();
      headwater = await startHeadwater(`traces-${traces}`, [], { data: headwater.data, env: { HEADWATER__CHAINS__ETH__FROM_BLOCK: '0' } });
      for (const { number, block, expected } of blocks.filter(({ block }) => block.transactions.length)) {
        assert.deepEqual((await ask(headwater, method, [hex(number), ...more])).result, expected, `${block.hash}`);
      }
      const { error } = await ask(headwater, other[0], [hex(blocks.find(({ block }) => block.transactions.length).number), ...other[1]]);
      assert.equal(error.code, -32002);
    });
  });
}
