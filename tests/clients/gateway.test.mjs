// A day's work of ethers and viem through the gateway to anvil: blocks, logs, receipts, calls, fees, sending, waiting,
// subscribing. Then the same clients read the store after its node is gone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { JsonRpcProvider, Network, Wallet, WebSocketProvider, id, zeroPadValue } from 'ethers';
import { createPublicClient, createWalletClient, http, webSocket } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { mainnet } from 'viem/chains';
import { NFT, initcode } from '../support/contracts.mjs';
import { rpc } from '../support/http.mjs';
import { settled, sleep, startAnvil, startHeadwater } from '../support/processes.mjs';

// anvil's own first account.
const SECRET = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const TRANSFER = id('Transfer(address,address,uint256)');
const word = (value) => zeroPadValue(value, 32).slice(2);
const number = (value) => value.toString(16).padStart(64, '0');

let anvil, headwater, contract;
const network = Network.from(1);
const path = () => `/eth/${headwater.key}`;
const ours = () => headwater.url + path();
const socketUrl = () => ours().replace('http', 'ws');
const provider = (url) => new JsonRpcProvider(url, network, { staticNetwork: network, cacheTimeout: -1, pollingInterval: 100 });
const mine = () => rpc(anvil.url, 'evm_mine');
/** Has blocks mined until the promise is kept. */
async function mining(promise) {
  let done = false;
  const kept = promise.finally(() => { done = true; });
  while (!done) { await mine(); await sleep(150); }
  return kept;
}

before(async () => {
  anvil = await startAnvil('gateway-node');
  headwater = await startHeadwater('gateway', [anvil.url]);
});
after(async () => { await headwater?.stop(); await anvil?.stop(); });

describe('ethers through the gateway', () => {
  let eth, wallet;
  before(async () => { eth = provider(ours()); wallet = new Wallet(SECRET, eth); });
  after(() => eth.destroy());

  it('deploys, calls and waits for receipts', async () => {
    const deployed = await wallet.sendTransaction({ data: initcode(NFT) });
    const receipt = await mining(deployed.wait());
    contract = receipt.contractAddress;
    assert.equal(await eth.getCode(contract), '0x' + NFT);
    const sent = await wallet.sendTransaction({ to: contract, data: '0x' + word(wallet.address) + word(contract) + number(7) });
    const moved = await mining(sent.wait());
    assert.equal(moved.logs.length, 1);
    // Whoever has the receipt finds its logs and its block, whatever is stored by then.
    const logs = await eth.getLogs({ address: contract, topics: [TRANSFER], fromBlock: moved.blockNumber, toBlock: 'latest' });
    assert.deepEqual(logs.map((log) => log.transactionHash), [sent.hash]);
    assert.ok(await eth.getBlockNumber() >= moved.blockNumber);
    assert.equal((await eth.getBlock(moved.blockNumber, true)).prefetchedTransactions[0].hash, sent.hash);
    assert.equal(await eth.call({ to: contract, data: '0x' + word(wallet.address) + word(contract) + number(7) }), '0x');
  });

  it('asks for fees, balances and nonces as the node says them', async () => {
    await settled(headwater, anvil.url);
    const theirs = provider(anvil.url);
    const [mine, node] = await Promise.all([eth.getFeeData(), theirs.getFeeData()]);
    assert.deepEqual(mine.toJSON(), node.toJSON());
    assert.equal(await eth.getBalance(wallet.address), await theirs.getBalance(wallet.address));
    assert.equal(await eth.getTransactionCount(wallet.address), await theirs.getTransactionCount(wallet.address));
    const history = await eth.send('eth_feeHistory', ['0x2', 'latest', [50]]);
    assert.deepEqual(history, await theirs.send('eth_feeHistory', ['0x2', 'latest', [50]]));
    theirs.destroy();
  });

  it('is told of blocks and logs over a WebSocket', async () => {
    const socket = new WebSocketProvider(socketUrl(), network, { staticNetwork: network });
    const [blocks, logs] = [[], []];
    await socket.on('block', (number) => blocks.push(number));
    await socket.on({ address: contract, topics: [TRANSFER] }, (log) => logs.push(log));
    await sleep(500);
    const sent = await wallet.sendTransaction({ to: contract, data: '0x' + word(wallet.address) + word(contract) + number(8) });
    const receipt = await mining(sent.wait());
    for (let tries = 0; tries < 300 && !(logs.length && blocks.includes(receipt.blockNumber)); tries++) await sleep(100);
    assert.ok(blocks.includes(receipt.blockNumber), `told of ${blocks}, not of ${receipt.blockNumber}`);
    assert.deepEqual(logs.map((log) => log.transactionHash), [sent.hash]);
    assert.equal(await socket.getBlockNumber() >= receipt.blockNumber, true);
    await socket.destroy();
  });
});

describe('viem through the gateway', () => {
  const account = privateKeyToAccount(SECRET);
  let client, wallet;
  before(() => {
    client = createPublicClient({ chain: mainnet, transport: http(ours()), pollingInterval: 100 });
    wallet = createWalletClient({ account, chain: mainnet, transport: http(ours()) });
  });

  it('sends, waits, and reads what came of it', async () => {
    const hash = await wallet.sendTransaction({ to: contract, data: '0x' + word(account.address) + word(contract) + number(9) });
    const receipt = await mining(client.waitForTransactionReceipt({ hash }));
    assert.equal(receipt.status, 'success');
    const logs = await client.getLogs({ address: contract, fromBlock: 0n, toBlock: 'latest' });
    assert.equal(logs.at(-1).transactionHash, hash);
    assert.equal((await client.getTransaction({ hash })).blockHash, receipt.blockHash);
    assert.equal((await client.getBlock({ blockNumber: receipt.blockNumber })).hash, receipt.blockHash);
  });

  it('keeps a filter and gets its changes', async () => {
    await settled(headwater, anvil.url);
    const filter = await client.createEventFilter({ address: contract });
    const hash = await wallet.sendTransaction({ to: contract, data: '0x' + word(account.address) + word(contract) + number(10) });
    await mining(client.waitForTransactionReceipt({ hash }));
    await settled(headwater, anvil.url);
    assert.deepEqual((await client.getFilterChanges({ filter })).map((log) => log.transactionHash), [hash]);
    assert.deepEqual(await client.getFilterChanges({ filter }), []);
    assert.equal(await client.uninstallFilter({ filter }), true);
  });

  it('watches blocks and events over a WebSocket', async () => {
    const socket = createPublicClient({ chain: mainnet, transport: webSocket(socketUrl()) });
    const [blocks, logs] = [[], []];
    const unwatch = [
      socket.watchBlockNumber({ onBlockNumber: (number) => blocks.push(number) }),
      socket.watchEvent({ address: contract, onLogs: (some) => logs.push(...some) }),
    ];
    await sleep(500);
    const hash = await wallet.sendTransaction({ to: contract, data: '0x' + word(account.address) + word(contract) + number(11) });
    const receipt = await mining(client.waitForTransactionReceipt({ hash }));
    for (let tries = 0; tries < 300 && !(logs.length && blocks.includes(receipt.blockNumber)); tries++) await sleep(100);
    assert.deepEqual(logs.map((log) => log.transactionHash), [hash]);
    assert.ok(blocks.includes(receipt.blockNumber));
    unwatch.forEach((stop) => stop());
    (await socket.transport.getRpcClient()).close();
  });
});

describe('a store that has no node', () => {
  let head, expected;
  before(async () => {
    head = (await settled(headwater, anvil.url)).head.number;
    const filter = { address: contract, fromBlock: '0x0', toBlock: '0x' + head.toString(16) };
    expected = {
      logs: await rpc(anvil.url, 'eth_getLogs', [filter]),
      block: await rpc(anvil.url, 'eth_getBlockByNumber', ['latest', true]),
    };
    expected.receipt = await rpc(anvil.url, 'eth_getTransactionReceipt', [expected.logs[0].transactionHash]);
    await headwater.stop();
    await anvil.stop();
    headwater = await startHeadwater('gateway', [], { data: headwater.data, env: { HEADWATER__CHAINS__ETH__FROM_BLOCK: '0' } });
  });

  it('is read by ethers', async () => {
    const eth = provider(ours());
    assert.equal(await eth.getBlockNumber(), head);
    assert.equal((await eth.getBlock('latest')).hash, expected.block.hash);
    assert.equal((await eth.getLogs({ address: contract, fromBlock: 0, toBlock: 'latest' })).length, expected.logs.length);
    assert.equal((await eth.getTransactionReceipt(expected.receipt.transactionHash)).blockHash, expected.receipt.blockHash);
    assert.equal(await eth.getTransaction('0x' + '00'.repeat(32)), null);
    await assert.rejects(eth.getBalance(contract), /needs a node/);
    eth.destroy();
  });

  it('is read by viem', async () => {
    const client = createPublicClient({ chain: mainnet, transport: http(ours(), { retryCount: 0 }) });
    assert.equal(await client.getBlockNumber(), BigInt(head));
    assert.equal((await client.getLogs({ address: contract, fromBlock: 0n })).length, expected.logs.length);
    assert.equal((await client.getTransactionReceipt({ hash: expected.receipt.transactionHash })).status, 'success');
  });

  it('says what the node said, field for field', async () => {
    assert.deepEqual(await rpc(ours(), 'eth_getBlockByNumber', ['latest', true]), expected.block);
    assert.deepEqual(await rpc(ours(), 'eth_getTransactionReceipt', [expected.receipt.transactionHash]), expected.receipt);
    assert.deepEqual(await rpc(ours(), 'eth_getLogs', [{ address: contract, fromBlock: '0x0', toBlock: 'latest' }]), expected.logs);
  });
});
