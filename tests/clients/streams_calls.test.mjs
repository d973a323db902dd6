// What a stream's own rules do on a live chain: filters over the fields of events, calls of contracts and balances at the very
// block that is told, also when the chain is further already.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Interface, MaxUint256, MinInt256, getAddress, id as keccak } from 'ethers';
import { words } from '../support/contracts.mjs';
import { rpc } from '../support/http.mjs';
import { StreamWorld, stranger } from './stream_world.mjs';
import { REFUSAL, abiOf, event, functionAbi, signatureOf } from './tokens.mjs';

const COIN = { name: 'Trial Coin', symbol: 'TRY', decimals: 6 }, ART = { name: 'Works of Art', symbol: 'ART' };
const LOGS = { includeContractLogs: true }, MOVED = { topic0: [signatureOf('moved')], abi: [abiOf('moved')] };
const BIG = 10n ** 21n;

describe('filters, triggers and balances of a live chain', () => {
  let world, sender, coin, art;
  before(async () => { world = await StreamWorld.start('streams-calls'); sender = world.sender; });
  after(() => world?.stop());

  it('filters compare whole numbers, addresses, booleans and texts', async () => {
    const [first, second] = await world.deploy(COIN, COIN), [anna, bert] = [stranger(), stranger()];
    const events = [
      [first, event('moved', anna, BIG + 1n, -5n, true, 'red')], [first, event('moved', anna, BIG, 0n, false, 'blue')], [first, event('moved', bert, MaxUint256, MinInt256, true, 'red')],
      [first, event('moved', bert, 0n, 7n, false, '')], [second, event('moved', anna, 5n, -1n, true, 'Red')],
    ];
    const table = [
      [{ gt: ['amount', String(BIG)] }, [0, 2]], [{ gt: ['amount', BIG] }, [0, 2]], [{ gte: ['amount', BIG] }, [0, 1, 2]], [{ lt: ['amount', 5] }, [3]], [{ lte: ['amount', '5'] }, [3, 4]], [{ lt: ['amount', MaxUint256] }, [0, 1, 3, 4]],
      [{ eq: ['amount', String(MaxUint256)] }, [2]], [{ eq: ['amount', BIG + 1n] }, [0]], [{ ne: ['amount', BIG + 1n] }, [1, 2, 3, 4]], [{ in: ['amount', ['5', BIG, '77']] }, [1, 4]], [{ nin: ['amount', ['5', BIG]] }, [0, 2, 3]],
      [{ lt: ['change', '0'] }, [0, 2, 4]], [{ gt: ['change', -5] }, [1, 3, 4]], [{ eq: ['change', MinInt256] }, [2]],
      [{ eq: ['who', getAddress(anna)] }, [0, 1, 4]], [{ eq: ['who', anna] }, [0, 1, 4]], [{ in: ['who', [bert, stranger()]] }, [2, 3]], [{ eq: ['good', 'true'] }, [0, 2, 4]], [{ eq: ['note', 'red'] }, [0, 2]],
      [{ and: [{ gt: ['amount', 4] }, { lt: ['amount', BIG + 1n] }] }, [1, 4]], [{ or: [{ eq: ['amount', 0] }, { eq: ['note', 'Red'] }] }, [3, 4]],
      [{ and: [{ eq: ['who', anna] }, { or: [{ lt: ['change', -1] }, { and: [{ eq: ['good', 'false'] }, { gte: ['amount', BIG] }] }] }] }, [0, 1]],
      [{ eq: ['moralis_streams_contract_address', second] }, [4]], [{ in: ['moralis_streams_chain_id', ['0x1', '0x89']] }, [0, 1, 2, 3, 4]],
      [{ gt: ['amount', MaxUint256] }, []], [{ eq: ['moralis_streams_chain_id', '0x89'] }, []], [{ eq: ['who', stranger()] }, []], [{ and: [{ eq: ['who', anna] }, { eq: ['who', bert] }] }, []],
    ];
    const streams = [];
    for (const [at, [filter]] of table.entries()) streams.push(await world.stream(`/filter/${at}`, { ...LOGS, ...MOVED, advancedOptions: [{ topic0: MOVED.topic0[0], filter }] }, [first, second]));
    const withTx = await world.stream('/filter/tx', { ...LOGS, ...MOVED, advancedOptions: [{ topic0: MOVED.topic0[0], filter: { gt: ['amount', BIG] }, includeNativeTxs: true }] }, [first]);
    const logs = [];
    for (const [contract, what] of events) logs.push(...(await world.log(contract, what)).logs);
    await world.log(first, event('noted', keccak('x'), anna, 1n));
    const block = await world.mine();
    await world.delivered(withTx, block, { txs: [0, 2].map((at) => [logs[at].tx, [first]]), logs: [0, 2].map((at) => [logs[at], [first]]) });
    for (const [at, [filter, matching]] of table.entries()) {
      if (!matching.length) continue;
      const body = await world.delivered(streams[at], block, { logs: matching.map((number) => [logs[number], [logs[number].contract]]) });
      assert.equal(body.logs.length, matching.length, JSON.stringify(filter, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
    }
  });

  it('triggers: contracts are asked at the block of the item, and a call that fails is told in it', async () => {
    [coin, art] = await world.deploy(COIN, ART);
    const [owner, friend, nobody] = [stranger(), stranger(), stranger()], noted = signatureOf('noted');
    const trigger = (type, contractAddress, name, inputs = [], more = {}) => ({ type, contractAddress, functionAbi: functionAbi(name, more.output), inputs, ...(more.topic0 ? { topic0: more.topic0 } : {}), ...(more.callFrom ? { callFrom: more.callFrom } : {}) });
    const tokens = await world.stream('/triggers/tokens', { ...LOGS, triggers: [
      trigger('erc20transfer', '$contract', 'balanceOf', ['$from'], { output: 'fromBalance' }), trigger('erc20transfer', '$contract', 'refuse'), trigger('erc20transfer', '$contract', 'whoAsks', [], { callFrom: '$to' }),
      trigger('erc20transfer', nobody, 'balanceOf', [owner]), trigger('erc20approval', '$contract', 'balanceOf', ['$owner']), trigger('nfttransfer', '$contract', 'ownerOf', ['$tokenId'], { output: 'nowOf' }),
    ] }, [owner]);
    const plain = await world.stream('/triggers/plain', { ...LOGS, includeNativeTxs: true, topic0: [noted], abi: [abiOf('noted')], triggers: [
      trigger('tx', '$toAddress', 'atBlock', [], { output: 'number' }), trigger('log', '$address', 'balanceOf', ['$who'], { topic0: noted, output: 'held' }),
    ] }, [coin]);
    const blocks = [];
    for (const held of [100n, 250n, MaxUint256]) {
      const transfer = await world.log(coin, event('erc20Transfer', owner, friend, 1n), { slot: BigInt(owner), value: held });
      const approval = await world.log(coin, event('erc20Approval', owner, friend, 2n));
      const nft = await world.log(art, event('erc721Transfer', owner, friend, held), { slot: held, value: BigInt(friend) });
      const note = await world.log(coin, event('noted', keccak('x'), nobody, held), { slot: BigInt(nobody), value: held / 2n });
      blocks.push({ held, sent: [transfer, approval, nft, note], block: await world.mine() });
    }
    for (const { held, sent, block } of blocks) {
      const [transfer, approval, nft, note] = sent, number = String(block.number), at = '0x' + block.number.toString(16);
      const said = await rpc(world.anvil.url, 'eth_call', [{ to: coin, data: new Interface(['function balanceOf(address)']).encodeFunctionData('balanceOf', [owner]) }, at]);
      assert.equal(BigInt(said), held, 'the node says the same of that block');
      const error = (value) => ({ name: 'error', value });
      const found = await world.unconfirmed(tokens, block), failures = found.erc20Transfers[0].triggers.filter((one) => one.name === 'error');
      assert.ok(failures[0].value.includes(REFUSAL), `${failures[0].value} says why`);
      assert.ok(failures[1].value.length > 0);
      await world.delivered(tokens, block, { logs: [
        [transfer.logs[0], [owner], undefined, [{ name: 'fromBalance', value: String(held) }, error(failures[0].value), { name: 'output1', value: friend }, error(failures[1].value)]],
        [approval.logs[0], [owner], undefined, [{ name: 'output1', value: String(held) }]], [nft.logs[0], [owner], undefined, [{ name: 'nowOf', value: friend }]],
      ] });
      const number1 = [{ name: 'number', value: number }];
      await world.delivered(plain, block, { txs: [transfer, approval, note].map((tx) => [tx, [coin], number1]), logs: [[note.logs[0], [coin], [{ name: 'held', value: String(held / 2n) }]]] });
    }
  });

  it('getNativeBalances: everybody once, as it stood after the block', async () => {
    const { splitter } = sender.contracts, wallet = sender.actors[3], [a, b, c] = [stranger(), stranger(), stranger()];
    const stream = await world.stream('/balances', { includeNativeTxs: true, includeInternalTxs: true, getNativeBalances: [{ selectors: ['$fromAddress', '$toAddress'], type: 'tx' }, { selectors: ['$to'], type: 'internalTx' }] }, [wallet, b]);
    const blocks = [];
    for (const value of [10n, 10n ** 20n]) {
      const direct = await sender.send({ from: wallet, to: a, value }), again = await sender.send({ from: wallet, to: a, value: 1n });
      const split = await sender.send({ from: sender.actors[4], to: splitter, value, data: words(b, c), internal: [{ type: 'CALL', from: splitter, to: b, value: value / 2n }, { type: 'CALL', from: splitter, to: c, value: value / 2n }] });
      blocks.push({ value, txs: [direct, again], split, block: await world.mine() });
    }
    const known = { [a]: 0n, [b]: 0n };
    for (const { value, txs, split, block } of blocks) {
      const balanceOf = (address) => rpc(world.anvil.url, 'eth_getBalance', [address, '0x' + block.number.toString(16)]);
      known[a] += value + 1n;
      known[b] += value / 2n;
      const nativeBalances = [];
      for (const address of [wallet, a, b]) nativeBalances.push({ address, balance: BigInt(await balanceOf(address)).toString() });
      assert.deepEqual(nativeBalances.slice(1).map((row) => BigInt(row.balance)), [known[a], known[b]]);
      const [toB] = await world.moved(split);
      await world.delivered(stream, block, { txs: txs.map((tx) => [tx, [wallet]]), internals: [[split, toB, [b]]], nativeBalances });
    }
  });

  it('all of it is confirmed as it was told, and what matched nothing sent nothing', () => world.allConfirmed());
});
