// What streams deliver of a live chain, word for word: transactions, tokens' events, coin that moves inside, logs by every
// way in which they can concern an address. The sender signed all of it, so it knows what must come, unconfirmed and confirmed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MaxUint256, id as keccak } from 'ethers';
import { initcode, words, SPLITTER } from '../support/contracts.mjs';
import { StreamWorld, stranger } from './stream_world.mjs';
import { SEVERAL, abiOf, event, logCall, severalCalls, signatureOf } from './tokens.mjs';

const COIN = { name: 'Trial Coin', symbol: 'TRY', decimals: 6 }, OTHER_COIN = { name: 'Ünïcode 币', symbol: '🪙', decimals: 18 }, ART = { name: 'Works of Art', symbol: 'ART' };
const LOGS = { includeContractLogs: true };

describe('streams of a live chain', () => {
  let world, sender, coin, otherCoin, art, several, lone;
  const actor = (n) => sender.actors[n];

  before(async () => {
    world = await StreamWorld.start('streams-live');
    sender = world.sender;
    [coin, otherCoin, art, several, lone] = await world.deploy(COIN, OTHER_COIN, ART, SEVERAL, COIN);
  });
  after(() => world?.stop());

  it('native transactions of every kind, in and out', async () => {
    const wallet = actor(1), receiver = stranger();
    const stream = await world.stream('/native', { includeNativeTxs: true }, [wallet, receiver]);
    const out = await sender.send({ from: wallet, to: stranger(), value: 3n });
    const legacy = await sender.send({ from: wallet, to: receiver, value: 10n ** 21n, legacy: true });
    await sender.send({ from: actor(2), to: stranger(), value: 4n });
    const toItself = await sender.send({ from: wallet, to: wallet, value: 0n, data: '0xc0ffee' });
    const creation = await sender.send({ from: wallet, data: initcode(SPLITTER) });
    const failing = await sender.send({ from: wallet, to: sender.contracts.reverter, value: 5n, data: words(stranger()), fail: true });
    const into = await sender.send({ from: actor(2), to: receiver, value: 6n });
    const block = await world.mine();
    assert.equal(block.number, stream.fromBlock);
    await world.delivered(stream, block, { txs: [[out, [wallet]], [legacy, [wallet, receiver]], [toItself, [wallet]], [creation, [wallet]], [failing, [wallet]], [into, [receiver]]] });
  });

  it('ERC20 transfers and approvals', async () => {
    const wallet = stranger(), friend = stranger(), stream = await world.stream('/erc20', LOGS, [wallet]);
    const sent = [
      [coin, event('erc20Transfer', wallet, friend, 1_234_500n)], [otherCoin, event('erc20Transfer', friend, wallet, 10n ** 22n)], [coin, event('erc20Transfer', friend, stranger(), 1n)],
      [coin, event('erc20Transfer', wallet, wallet, 0n)], [otherCoin, event('erc20Transfer', wallet, friend, MaxUint256), '1.15792089237316195423570985008687907853269984665640564039457584007913129639935e+59'],
      [coin, event('erc20Approval', wallet, friend, 5n)], [otherCoin, event('erc20Approval', friend, wallet, 1n), '1e-18'], [coin, event('erc20Approval', friend, stranger(), 1n)],
    ];
    const logs = [];
    for (const [contract, what, scaled] of sent) logs.push(...(await world.log(contract, { ...what, scaled })).logs);
    const block = await world.mine();
    const body = await world.delivered(stream, block, { logs: logs.filter((_, at) => ![2, 7].includes(at)).map((log) => [log, [wallet]]) });
    assert.deepEqual([body.erc20Transfers.length, body.erc20Approvals.length, body.nftTransfers.length], [4, 2, 0]);
    assert.deepEqual(body.erc20Transfers.map((row) => row.valueWithDecimals).slice(0, 3), ['1.2345', '10000', '0']);
  });

  it('ERC721 transfers, approvals and approvals for all', async () => {
    const wallet = stranger(), friend = stranger(), stream = await world.stream('/erc721', LOGS, [wallet]);
    const logs = [];
    for (const what of [
      event('erc721Transfer', wallet, friend, 7n), event('erc721Transfer', friend, wallet, MaxUint256), event('erc721Transfer', friend, stranger(), 7n),
      event('erc721Approval', wallet, friend, 8n), event('approvalForAll', wallet, friend, true), event('approvalForAll', friend, wallet, false),
    ]) logs.push(...(await world.log(art, what)).logs);
    const block = await world.mine();
    const body = await world.delivered(stream, block, { logs: logs.filter((_, at) => at !== 2).map((log) => [log, [wallet]]) });
    assert.deepEqual([body.nftTransfers.length, body.nftTokenApprovals.length, body.nftApprovals.ERC721.length, body.nftApprovals.ERC1155.length, body.erc20Transfers.length], [2, 3, 1, 2, 0]);
  });

  it('ERC1155 single and batch transfers, and approvals for all', async () => {
    const wallet = stranger(), friend = stranger(), operator = stranger(), stream = await world.stream('/erc1155', LOGS, [wallet]);
    const logs = [];
    for (const what of [
      event('single', operator, wallet, friend, 1n, 50n), event('batch', operator, friend, wallet, [2n, MaxUint256, 2n], [1n, 10n ** 30n, 0n]), event('batch', operator, wallet, friend, [], []),
      event('single', wallet, friend, stranger(), 3n, 1n), event('approvalForAll', wallet, operator, true), event('single', operator, friend, stranger(), 1n, 1n),
    ]) logs.push(...(await world.log(art, what)).logs);
    const block = await world.mine();
    const body = await world.delivered(stream, block, { logs: logs.slice(0, 5).map((log) => [log, [wallet]]) });
    assert.deepEqual(body.nftTransfers.map((row) => row.amount), ['50', '1', '1' + '0'.repeat(30), '0', '1'], 'one item for each id');
  });

  it('coin that moves inside, and nothing of what was undone', async () => {
    const { splitter, reverter, trier, heir } = sender.contracts, wallet = stranger(), heirs = stranger(), inside = (from, to, value, failed = false, type = 'CALL') => ({ type, from, to, value, failed });
    const stream = await world.stream('/internal', { includeInternalTxs: true }, [wallet, heirs]);
    const split = await sender.send({ from: actor(3), to: splitter, value: 10n, data: words(wallet, heirs), internal: [inside(splitter, wallet, 5n), inside(splitter, heirs, 5n)] });
    await sender.send({ from: actor(3), to: splitter, value: 0n, data: words(wallet, heirs), internal: [] });
    const tried = await sender.send({ from: actor(3), to: trier, value: 8n, data: words(reverter, wallet), internal: [inside(trier, reverter, 4n, true), inside(reverter, wallet, 4n, true), inside(trier, wallet, 4n)] });
    await sender.send({ from: actor(3), to: reverter, value: 6n, data: words(wallet), fail: true, internal: [inside(reverter, wallet, 6n, true)] });
    const inherited = await sender.send({ from: actor(3), to: heir, value: 9n, data: words(heirs), internal: [inside(heir, heirs, 9n, false, 'SELFDESTRUCT')] });
    const elsewhere = await sender.send({ from: actor(3), to: splitter, value: 2n, data: words(wallet, stranger()), internal: [] });
    elsewhere.internal = [inside(splitter, wallet, 1n), inside(splitter, '0x' + elsewhere.data.slice(-40), 1n)];
    const block = await world.mine(), internals = [];
    for (const tx of [split, tried, inherited, elsewhere]) {
      for (const row of await world.moved(tx)) { const by = row.slice(0, 2).filter((party) => [wallet, heirs].includes(party)); if (by.length) internals.push([tx, row, by]); }
    }
    assert.equal(internals.length, 5);
    await world.delivered(stream, block, { internals });
  });

  it('logs by their emitter, and by who is mentioned in topics or data', async () => {
    const wallet = stranger(), emitter = await world.stream('/emitter', LOGS, [lone]), mentioned = await world.stream('/mentioned', LOGS, [wallet]);
    const key = keccak('a key'), other = stranger(), asKey = '0x' + wallet.slice(2).padStart(64, '0'), logs = [];
    for (const [contract, what] of [
      [coin, event('noted', key, wallet, 1n)], [coin, event('noted', asKey, other, 1n)], [coin, event('noted', key, other, BigInt(wallet))], [lone, event('noted', key, other, 5n)],
      [lone, event('noted', key, wallet, 6n)], [coin, event('noted', key, other, 7n)], [art, event('single', other, other, wallet, 1n, 1n)], [lone, { name: 'none', topics: [], data: '0x' + '11'.repeat(33) }],
    ]) logs.push(...(await world.log(contract, what)).logs);
    const block = await world.mine();
    await world.delivered(mentioned, block, { logs: [0, 1, 2, 4, 6].map((at) => [logs[at], [wallet]]) });
    await world.delivered(emitter, block, { logs: [3, 4, 7].map((at) => [logs[at], [lone]]) });
  });

  it('includeAllTxLogs: every log of a transaction that concerns the address', async () => {
    const wallet = actor(4), friend = stranger(), all = await world.stream('/all-logs', { includeNativeTxs: true, includeAllTxLogs: true }, [wallet]);
    const mentioned = await world.stream('/all-logs-mentioned', { ...LOGS, includeAllTxLogs: true }, [friend]), few = await world.stream('/few-logs', LOGS, [friend]);
    const events = [[coin, event('erc20Transfer', stranger(), stranger(), 9n)], [art, event('erc721Transfer', stranger(), friend, 1n)], [coin, event('noted', keccak('x'), stranger(), 1n)]];
    const tx = await sender.send({ from: wallet, to: several, value: 1n, data: severalCalls(events.map(([to, what]) => ({ to, data: logCall(what) }))) });
    tx.logs = events.map(([contract, what]) => ({ ...what, contract }));
    await world.log(coin, event('noted', keccak('y'), stranger(), 2n), { from: actor(5) });
    const block = await world.mine(), by = (at) => (at === 1 ? [friend] : []);
    await world.delivered(all, block, { txs: [[tx, [wallet]]], logs: tx.logs.map((log) => [log, []]) });
    await world.delivered(mentioned, block, { logs: tx.logs.map((log, at) => [log, by(at)]) });
    await world.delivered(few, block, { logs: [[tx.logs[1], [friend]]] });
  });

  it('allAddresses: one event of every contract, in the layout of the ABI', async () => {
    const stream = await world.stream('/all-addresses', { ...LOGS, allAddresses: true, topic0: [signatureOf('moved')], abi: [abiOf('moved')] });
    const args = (amount) => [stranger(), amount, -1n, true, 'a note'], logs = [];
    for (const [contract, what] of [
      [coin, event('moved', ...args(1n))], [art, event('moved', ...args(2n))], [coin, event('movedIndexed', ...args(3n))], [coin, event('noted', keccak('z'), stranger(), 4n)], [otherCoin, event('moved', ...args(5n))],
    ]) logs.push(...(await world.log(contract, what)).logs);
    const block = await world.mine();
    await world.delivered(stream, block, { logs: [0, 1, 4].map((at) => [logs[at], []]) });
  });

  it('every stream has its own tag, and a new one from the next block on', async () => {
    const wallet = stranger(), one = await world.stream('/tag/one', { includeNativeTxs: true, tag: 'one' }, [wallet]), two = await world.stream('/tag/two', { includeNativeTxs: true, tag: 'zwei "2" ✓' }, [wallet]);
    const first = await sender.send({ from: actor(5), to: wallet, value: 1n }), block = await world.mine();
    for (const stream of [one, two]) await world.delivered(stream, block, { txs: [[first, [wallet]]] });
    one.tag = (await world.ask('POST', `/streams/evm/${one.id}`, { tag: 'eins' })).tag;
    const second = await sender.send({ from: actor(5), to: wallet, value: 2n }), next = await world.mine();
    for (const stream of [one, two]) await world.delivered(stream, next, { txs: [[second, [wallet]]] });
    assert.deepEqual([one.told, two.told].map((told) => told.map((body) => body.tag)), [['one', 'eins'], ['zwei "2" ✓', 'zwei "2" ✓']]);
  });

  it('all of it is confirmed as it was told, and nothing else came', () => world.allConfirmed());
});
