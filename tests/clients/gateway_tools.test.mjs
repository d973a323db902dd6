// A day's work through the gateway to anvil with what people have in a shell: curl, and cast, whose client is alloy.
// Then a second anvil forks the chain through the gateway.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Wallet } from 'ethers';
import { NFT, initcode } from '../support/contracts.mjs';
import { rpc } from '../support/http.mjs';
import { castBinary, settled, sleep, startAnvil, startHeadwater } from '../support/processes.mjs';

const execute = promisify(execFile);
// anvil's own first accounts.
const SECRET = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const SENDER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const RECEIVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const word = (value) => value.slice(2).toLowerCase().padStart(64, '0');

let anvil, headwater;
const ours = () => `${headwater.url}/eth/${headwater.key}`;

before(async () => {
  anvil = await startAnvil('gateway-tools-node');
  headwater = await startHeadwater('gateway-tools', [anvil.url]);
});
after(async () => { await headwater?.stop(); await anvil?.stop(); });

/** Has blocks mined until the promise is kept. */
async function mining(promise) {
  let done = false;
  const kept = promise.finally(() => { done = true; });
  while (!done) { await rpc(anvil.url, 'evm_mine'); await sleep(150); }
  return kept;
}

describe('cast (alloy) through the gateway', { skip: castBinary() ? false : 'no cast for this machine (set CAST to the binary)' }, () => {
  let contract;
  const cast = async (command, ...args) => (await execute(castBinary(), [command, '--rpc-url', ours(), ...args])).stdout.trim();
  const json = async (command, ...args) => JSON.parse(await cast(command, '--json', ...args));
  const send = (...args) => mining(json('send', '--private-key', SECRET, ...args));

  it('deploys and waits for the receipt', async () => {
    const receipt = await send('--create', initcode(NFT));
    assert.equal(receipt.status, '0x1');
    contract = receipt.contractAddress;
    assert.equal(await cast('code', contract), '0x' + NFT);
  });

  it('sends value, and reads balance, nonce, transaction and block', async () => {
    await settled(headwater, anvil.url);
    const before = BigInt(await cast('balance', RECEIVER));
    const receipt = await send(RECEIVER, '--value', '12345');
    assert.equal(BigInt(await cast('balance', RECEIVER)) - before, 12345n);
    assert.equal(await cast('nonce', SENDER), '2');
    const tx = await json('tx', receipt.transactionHash);
    assert.deepEqual([tx.blockHash, tx.value], [receipt.blockHash, '0x3039']);
    assert.equal((await json('block', String(Number(receipt.blockNumber)))).hash, receipt.blockHash);
    assert.deepEqual(await json('receipt', receipt.transactionHash), await rpc(anvil.url, 'eth_getTransactionReceipt', [receipt.transactionHash]));
  });

  it('calls, estimates, asks for prices and finds logs', async () => {
    const data = '0x' + word(SENDER) + word(RECEIVER) + word('0x07');
    assert.equal(await cast('call', contract, data), '0x');
    assert.ok(BigInt(await cast('estimate', contract, data)) > 21_000n);
    assert.equal(await cast('gas-price'), BigInt(await rpc(anvil.url, 'eth_gasPrice')).toString());
    const receipt = await send(contract, data);
    const logs = await json('logs', '--address', contract, '--from-block', '0', '--to-block', 'latest');
    assert.deepEqual(logs.map((log) => log.transactionHash), [receipt.transactionHash]);
    assert.equal(await cast('chain-id'), '1');
  });
});

describe('curl through the gateway', () => {
  const curl = async (...args) => (await execute('curl', ['--silent', '--show-error', '--max-time', '30', ...args])).stdout;
  const post = async (body) => JSON.parse(await curl(ours(), '--json', JSON.stringify(body)));
  const call = (method, params = [], id = 1) => ({ jsonrpc: '2.0', id, method, params });

  it('asks for a block, its receipts and its logs, one by one and in one batch', async () => {
    const { head } = await settled(headwater, anvil.url);
    const number = '0x' + head.number.toString(16);
    const calls = [
      call('eth_blockNumber', [], 'a'), call('eth_getBlockByNumber', [number, true], 2), call('eth_getBlockReceipts', [number], 3),
      call('eth_getLogs', [{ fromBlock: '0x0', toBlock: number }], 4), call('eth_feeHistory', ['0x1', number, []], 5), call('eth_getBalance', [SENDER, number], null),
    ];
    const expected = [];
    for (const { id, method, params } of calls) expected.push({ jsonrpc: '2.0', id, result: await rpc(anvil.url, method, params) });
    for (const [place, one] of calls.entries()) assert.deepEqual(await post(one), expected[place]);
    assert.deepEqual(await post(calls), expected);
  });

  it('sends a signed transaction, and hears the node when it does so again', async () => {
    const nonce = Number(await rpc(anvil.url, 'eth_getTransactionCount', [SENDER, 'latest']));
    const signed = await new Wallet(SECRET).signTransaction({ chainId: 1, nonce, to: RECEIVER, value: 1, gasLimit: 21_000, type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1 });
    const first = await post(call('eth_sendRawTransaction', [signed]));
    assert.match(first.result, /^0x[0-9a-f]{64}$/);
    const { error } = await post(call('eth_sendRawTransaction', [signed]));
    assert.match(error.message, /already/);
    await rpc(anvil.url, 'evm_mine');
    await settled(headwater, anvil.url);
    assert.equal((await post(call('eth_getTransactionReceipt', [first.result]))).result.status, '0x1');
  });

  it('is told by status and code what went wrong', async () => {
    assert.match(await curl(ours(), '--json', 'no json', '--write-out', '%{http_code}'), /"code":-32700.*200$/s);
    assert.match(await curl(`${headwater.url}/eth/${'x'.repeat(40)}`, '--json', JSON.stringify(call('eth_chainId')), '--write-out', '%{http_code}'), /401$/);
  });
});

describe('anvil forked through the gateway', () => {
  let fork;
  after(() => fork?.stop());

  it('has the chain, its state and its logs, and goes on from there', async () => {
    const { head } = await settled(headwater, anvil.url);
    // Without accounts of its own, which it would give balances that the chain does not know.
    fork = await startAnvil('gateway-fork', ['--accounts', '0', '--fork-url', ours(), '--fork-block-number', String(head.number)]);
    const both = (method, params) => Promise.all([anvil.url, fork.url].map((url) => rpc(url, method, params)));
    for (const [method, params] of [
      ['eth_blockNumber', []], ['eth_getBalance', [RECEIVER, 'latest']], ['eth_getTransactionCount', [SENDER, 'latest']],
      ['eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]],
    ]) {
      const [node, forked] = await both(method, params);
      assert.deepEqual(forked, node, method);
    }
    const [node, forked] = await both('eth_getBlockByNumber', ['0x1', false]);
    assert.equal(forked.hash, node.hash);
    await rpc(fork.url, 'anvil_impersonateAccount', [SENDER]);
    await rpc(fork.url, 'eth_sendTransaction', [{ from: SENDER, to: RECEIVER, value: '0x5' }]);
    await rpc(fork.url, 'evm_mine');
    const [before, later] = await both('eth_getBalance', [RECEIVER, 'latest']);
    assert.equal(BigInt(later) - BigInt(before), 5n);
  });
});
