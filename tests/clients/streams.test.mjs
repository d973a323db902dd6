// The official JS SDK against the streams host, unchanged but for the address it talks to: every call it has, and
// every webhook it is sent.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { EvmStreamResult } from '@moralisweb3/common-streams-utils';
import axios from 'axios';
import { getAddress, id as keccak } from 'ethers';
import Moralis from 'moralis';
import { Webhook } from 'standardwebhooks';
import { NFT, initcode, words } from '../support/contracts.mjs';
import { settled, startAnvil, startHeadwater } from '../support/processes.mjs';
import { STREAMS_ENV, startReceiver, until } from '../support/receiver.mjs';
import { Sender } from './sender.mjs';

const CONFIRMATIONS = 12, UNKNOWN = '0d653a7a-05da-4f4a-8eec-bca8725046cd', ZERO = '0x' + '0'.repeat(64);
const TRANSFER = { anonymous: false, name: 'Transfer', type: 'event', inputs: [
  { name: 'from', type: 'address', indexed: true }, { name: 'to', type: 'address', indexed: true }, { name: 'tokenId', type: 'uint256', indexed: true },
] };
const address = (n) => '0x' + n.toString(16).padStart(40, '0');
const api = () => Moralis.Streams;

let anvil, headwater, sender, receiver, secret;

/** The SDK takes no other host, so its HTTP client is told. */
axios.interceptors.request.use((config) => { config.url = config.url.replace('https://api.moralis-streams.com', headwater.url); return config; });

/** What the SDK cannot ask. */
async function ask(method, path, body) {
  const response = await fetch(headwater.url + path, { method, headers: { 'x-api-key': headwater.key, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const add = async (path, more = {}) => (await api().add({
  webhookUrl: receiver.url + path, description: `to ${path}`, tag: path, chains: ['0x1'], includeNativeTxs: true, ...more,
})).result;
const refusal = async (call, status, ...says) => assert.rejects(call, (error) => {
  assert.equal(error.details?.status, status, error.message);
  says.forEach((text) => assert.ok(error.message.includes(text), `${error.message} does not say ${text}`));
  return true;
});
async function mine(blocks) { for (let i = 0; i < blocks; i++) await sender.mine(); }

/** All that a receiver can check of one delivery by itself. */
function verify({ headers, text, body }) {
  assert.equal(api().verifySignature({ body, signature: headers['x-signature'] }), true);
  assert.equal(keccak(text + secret), headers['x-signature'], 'over the bytes as they came');
  assert.equal(JSON.stringify(JSON.parse(text)), text, 'a fixed point of parse and stringify');
  const known = new Webhook('whsec_' + Buffer.from(secret).toString('base64')).verify(text, headers);
  assert.deepEqual(known, body);
  assert.throws(() => new Webhook('whsec_' + Buffer.from('another secret').toString('base64')).verify(text, headers));
  assert.throws(() => api().verifySignature({ body: { ...body, tag: 'another' }, signature: headers['x-signature'] }));
  const result = EvmStreamResult.create(body);
  assert.equal(result.streamId, body.streamId);
  return result;
}

/** Numbers without a hole and the chain of digests, whatever order they came in. */
function verifyChain(deliveries) {
  const ordered = deliveries.toSorted((a, b) => a.headers['x-sequence'] - b.headers['x-sequence']);
  let previous = ZERO;
  ordered.forEach(({ headers, text }, at) => {
    assert.equal(headers['x-sequence'], String(at + 1));
    assert.equal(headers['x-previous-digest'], previous);
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(at + 1));
    const first = text.replace(/"retries":\d+/, '"retries":0');
    previous = '0x' + createHash('sha256').update(Buffer.from(headers['x-previous-digest'].slice(2), 'hex')).update(number).update(first).digest('hex');
    assert.equal(headers['x-digest'], previous);
  });
  return ordered;
}

describe('moralis (JS) Streams', () => {
  before(async () => {
    anvil = await startAnvil('streams-node');
    sender = new Sender(anvil.url);
    await sender.start();
    headwater = await startHeadwater('streams', [anvil.url], { env: STREAMS_ENV });
    receiver = await startReceiver();
    await settled(headwater, anvil.url);
    // The secret is the server's: keys are kept as hashes, so none of them can sign.
    secret = (await ask('GET', '/settings')).body.secretKey;
    await Moralis.start({ apiKey: headwater.key, streamsSecret: secret });
  });
  after(async () => { await headwater?.stop(); await receiver?.stop(); await anvil?.stop(); });

  it('readSettings and setSettings', async () => {
    const { raw } = await api().readSettings();
    assert.equal(raw.secretKey, secret);
    assert.ok(secret.length >= 24);
    for (const region of ['us-west-2', 'eu-central-1']) {
      assert.equal((await api().setSettings({ region })).raw.region, region);
      assert.deepEqual((await api().readSettings()).raw, { region, secretKey: secret });
    }
    await refusal(() => api().setSettings({ region: 'eu-central-100' }), 422, 'Validation Failed', 'requestBody.region', "should be one of the following; ['us-east-1','us-west-2','eu-central-1','ap-southeast-1']");
  });

  it('add: makes a stream, and tries its webhook first', async () => {
    const options = {
      webhookUrl: `${receiver.url}/whole`, description: 'all there is', tag: 'whole', chains: ['0x1'], demo: true, allAddresses: false, includeNativeTxs: true, includeContractLogs: true,
      includeInternalTxs: true, includeAllTxLogs: true, topic0: ['Transfer(address,address,uint256)'], abi: [TRANSFER],
      advancedOptions: [{ topic0: 'Transfer(address,address,uint256)', filter: { gt: ['tokenId', '5'] }, includeNativeTxs: true }],
      getNativeBalances: [{ selectors: ['$fromAddress', '$toAddress'], type: 'tx' }],
      triggers: [{ type: 'erc20transfer', contractAddress: '$contract', inputs: ['$from'], functionAbi: {
        name: 'balanceOf', type: 'function', stateMutability: 'view', inputs: [{ name: 'owner', type: 'address' }], outputs: [{ name: 'fromBalance', type: 'uint256' }],
      } }],
    };
    const { result, raw } = await api().add(options);
    const { chains, ...fields } = options;
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(raw[name], value, name);
    assert.deepEqual(raw.chainIds, ['0x1']);
    assert.equal(result.status, 'active');
    assert.equal(result.statusMessage, 'Stream is active');
    assert.deepEqual([raw.amountOfAddresses, raw.includeUnconfirmed, raw.includeRetractions, raw.filterPossibleSpamAddresses], [0, true, false, false]);
    assert.match(raw.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(raw.updatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const [test] = receiver.tests('/whole');
    verify(test);
    assert.deepEqual([test.body.chainId, test.body.block, test.body.confirmed, test.headers['x-sequence']], ['', { number: '', hash: '', timestamp: '' }, true, undefined]);
    await api().delete({ id: raw.id });
  });

  it('add: a webhook that refuses makes no stream', async () => {
    const total = async () => (await api().getAll({ limit: 1 })).raw.total;
    const before = await total();
    const webhookUrl = `${receiver.url}/refuse`;
    await refusal(() => add('/refuse'), 400, `Could not POST to ${webhookUrl}. Please check your webhook URL.`);
    await refusal(() => add('/none', { includeNativeTxs: false }), 400);
    await refusal(() => add('/none', { chains: ['0x89'] }), 400, 'eth');
    await refusal(() => add('/none', { topic0: ['Transfer(address'] }), 422, 'requestBody.topic0');
    assert.equal(await total(), before);
  });

  it('getAll pages to the end, getById finds each, delete leaves none', async () => {
    const made = [];
    for (let i = 0; i < 5; i++) made.push((await add(`/list/${i}`)).id);
    const pages = [await api().getAll({ limit: 2 })];
    while (pages.at(-1).hasNext()) pages.push(await pages.at(-1).next());
    assert.deepEqual(pages.map((page) => page.result.length), [2, 2, 1]);
    assert.deepEqual(pages.map((page) => page.raw.total), [5, 5, 5]);
    assert.deepEqual(pages.flatMap((page) => page.result.map((stream) => stream.id)).toSorted(), made.toSorted());
    await refusal(() => api().getAll({}), 422, "'limit' is required");
    await refusal(() => api().getAll({ limit: 101 }), 422, 'limit');
    await refusal(() => api().getAll({ limit: 1, cursor: 'ABC' }), 400, 'cursor is malformed');
    for (const id of made) {
      const { raw } = await api().getById({ id });
      assert.equal(raw.id, id);
      assert.deepEqual((await api().delete({ id })).raw.id, id);
      await refusal(() => api().getById({ id }), 404, 'Stream not found');
      await refusal(() => api().delete({ id }), 404, 'Stream not found');
    }
    await refusal(() => api().getById({ id: '17' }), 422, 'Validation Failed');
    assert.equal((await api().getAll({ limit: 1 })).raw.total, 0);
  });

  it('update: given fields replace, the others stay', async () => {
    const { id } = await add('/update', { tag: 'first' });
    const before = (await api().getById({ id })).raw;
    const { raw } = await api().update({ id, description: 'another', includeContractLogs: true });
    assert.deepEqual({ ...raw, updatedAt: '' }, { ...before, description: 'another', includeContractLogs: true, updatedAt: '' });
    assert.equal(receiver.tests('/update').length, 2, 'tried again');
    const trigger = { type: 'tx', contractAddress: '$toAddress', functionAbi: { name: 'f', type: 'function', stateMutability: 'view', inputs: [], outputs: [{ name: 'x', type: 'uint256' }] }, inputs: [] };
    assert.equal((await api().update({ id, triggers: [trigger] })).raw.triggers[0].contractAddress, '$toAddress');
    await refusal(() => api().update({ id, webhookUrl: `${receiver.url}/refuse` }), 400, 'Could not POST to');
    await refusal(() => api().update({ id, includeNativeTxs: false, includeContractLogs: false }), 400);
    await refusal(() => api().update({ id: UNKNOWN, tag: 'x' }), 404, 'Stream not found');
    assert.equal((await api().getById({ id })).raw.webhookUrl, `${receiver.url}/update`, 'nothing changed');
    const copy = (await ask('POST', `/streams/evm/${id}/duplicate`)).body;
    assert.notEqual(copy.id, id);
    assert.equal(copy.description, 'another');
    await api().delete({ id: copy.id });
    await api().delete({ id });
  });

  it('updateStatus: a paused stream is not matched, one made active goes on', async () => {
    const actor = sender.actors[0], { id } = await add('/status');
    await api().addAddress({ id, address: actor });
    assert.equal((await api().updateStatus({ id, status: 'paused' })).raw.status, 'paused');
    assert.equal((await api().getById({ id })).raw.statusMessage, 'Stream was paused by the user');
    const unseen = await sender.send({ from: actor, to: address(1), value: 1n });
    await mine(1);
    await settled(headwater, anvil.url);
    assert.equal((await api().updateStatus({ id, status: 'active' })).raw.status, 'active');
    const seen = await sender.send({ from: actor, to: address(1), value: 2n });
    await mine(1);
    await until('the delivery after the pause', () => receiver.of('/status').length);
    assert.deepEqual(receiver.of('/status').flatMap(({ body }) => body.txs.map((tx) => tx.hash)), [seen.hash]);
    const { body: again } = await ask('POST', `/streams/evm/${id}/status`, { status: 'active', fromBlock: sender.blocks.length - 2 });
    assert.equal(again.id, id);
    await until('what was passed over', () => receiver.of('/status').some(({ body }) => body.txs.some((tx) => tx.hash === unseen.hash)));
    await refusal(() => api().updateStatus({ id, status: 'terminated' }), 422, 'requestBody.status');
    await api().delete({ id });
  });

  it('addAddress, getAddresses, deleteAddress: in the form they came, and paged', async () => {
    const { id } = await add('/addresses'), many = Array.from({ length: 7 }, (_, n) => address(0xabcdef00 + n));
    const one = await api().addAddress({ id, address: many[0] });
    assert.equal(one.raw.streamId, id);
    assert.equal(one.raw.address, getAddress(many[0]), 'a string for a string, as the SDK wrote it');
    assert.equal(one.result.address.lowercase, many[0]);
    assert.ok(one.raw.fromBlock['0x1'] > 0);
    const list = await api().addAddress({ id, address: many });
    assert.deepEqual(list.raw.address, many.map((text) => getAddress(text)));
    const pages = [await api().getAddresses({ id, limit: 3 })];
    while (pages.at(-1).hasNext()) pages.push(await pages.at(-1).next());
    assert.deepEqual(pages.map((page) => page.result.length), [3, 3, 1]);
    assert.deepEqual(pages.flatMap((page) => page.result.map((row) => row.address.lowercase)), many);
    assert.equal(pages[0].raw.total, 7);
    const gone = await api().deleteAddress({ id, address: many.slice(0, 2) });
    assert.deepEqual(gone.raw.address, many.slice(0, 2));
    assert.equal((await api().deleteAddress({ id, address: many[2] })).raw.address, many[2]);
    await refusal(() => api().deleteAddress({ id, address: many[2] }), 404, 'Address not found');
    assert.equal((await api().getById({ id })).raw.amountOfAddresses, 4);
    const replaced = await ask('PATCH', `/streams/evm/${id}/address`, { address: [many[6]] });
    assert.deepEqual([replaced.status, replaced.body.address], [200, [many[6]]]);
    assert.match(replaced.headers.get('x-from-block'), /^0x1=\d+$/);
    assert.deepEqual((await api().getAddresses({ id, limit: 100 })).result.map((row) => row.address.lowercase), [many[6]]);
    await refusal(() => api().addAddress({ id: UNKNOWN, address: many[0] }), 404, 'Stream not found');
    await api().delete({ id });
  });

  it('every webhook verifies, and tells what the sender knows, unconfirmed and confirmed', async () => {
    const actor = sender.actors[1], { splitter } = sender.contracts, { id } = await add('/hooks', { includeInternalTxs: true, includeContractLogs: true });
    const { raw } = await api().addAddress({ id, address: actor });
    const sent = [];
    for (let block = 0; block < 3; block++) {
      sent.push(await sender.send({ from: actor, to: address(9), value: BigInt(block + 1) }));
      sent.push(await sender.send({ from: sender.actors[2], to: splitter, value: 10n, data: words(actor, address(10)), internal: [] }));
      await mine(1);
    }
    // Blocks that are confirmed by the time they are matched are told once, so the first word is waited for.
    await until('three unconfirmed deliveries', () => receiver.of('/hooks').length === 3);
    await mine(CONFIRMATIONS + 1);
    const deliveries = await until('six deliveries', () => receiver.of('/hooks').length === 6 && receiver.of('/hooks'));
    const results = deliveries.map(verify), ordered = verifyChain(deliveries);
    for (const confirmed of [false, true]) {
      const bodies = ordered.map(({ body }) => body).filter((body) => body.confirmed === confirmed);
      assert.deepEqual(bodies.map((body) => Number(body.block.number)), [0, 1, 2].map((n) => raw.fromBlock['0x1'] + n));
      assert.deepEqual(bodies.flatMap((body) => body.txs.map((tx) => tx.hash)), sent.filter((tx) => tx.from === actor).map((tx) => tx.hash));
      assert.deepEqual(bodies.flatMap((body) => body.txs.map((tx) => tx.value)), ['1', '2', '3']);
      assert.deepEqual(bodies.flatMap((body) => body.txsInternal.map((tx) => [tx.from, tx.to, tx.value])), Array(3).fill([splitter, actor, '5']));
      bodies.forEach((body) => assert.deepEqual([body.streamId, body.tag, body.chainId, body.retries], [id, '/hooks', '0x1', 0]));
    }
    assert.ok(results.every((result) => result.chain.apiHex === '0x1'));
    deliveries.forEach(({ headers, body }) => assert.equal(headers['x-records-charged'], body.confirmed ? String(body.txs.length + body.txsInternal.length + body.logs.length) : '0'));
    const askKept = async () => (await ask('GET', `/streams/evm/${id}/deliveries?from=2&limit=3`)).body;
    const kept = await until('notes of all deliveries', async () => { const list = await askKept(); return list.result.every((row) => row.status === 'delivered') && list; });
    assert.deepEqual(kept.result.map((row) => row.sequence), [2, 3, 4]);
    kept.result.forEach((row, at) => {
      const { headers, text } = ordered[at + 1];
      assert.equal(JSON.stringify(row.payload), text);
      assert.deepEqual([row.id, row.digest, row.previousDigest, row.status, row.attempts], [headers['webhook-id'], headers['x-digest'], headers['x-previous-digest'], 'delivered', 1]);
    });
    const { body: rest } = await ask('GET', `/streams/evm/${id}/deliveries?cursor=${kept.cursor}`);
    assert.deepEqual(rest.result.map((row) => row.sequence), [5, 6]);
    await until('the sum of all', async () => (await api().getStatsById({ streamId: id })).raw.totalWebhooksDelivered === 6);
    assert.equal((await api().getStatsById({ streamId: id })).raw.totalWebhooksFailed, 0);
    await api().delete({ id });
  });

  it('parsedLogs reads the events of a stream by its ABI', async () => {
    const nft = (await sender.send({ from: sender.actors[0], data: initcode(NFT) })).created;
    await mine(1);
    const { id } = await add('/events', { includeNativeTxs: false, includeContractLogs: true, topic0: ['Transfer(address,address,uint256)'], abi: [TRANSFER] });
    await api().addAddress({ id, address: nft });
    await sender.send({ from: sender.actors[0], to: nft, data: words(address(7), address(8), 99n) });
    await mine(1);
    const [delivery] = await until('the event', () => receiver.of('/events').length && receiver.of('/events'));
    verify(delivery);
    const [log] = api().parsedLogs(delivery.body);
    assert.deepEqual([log.from.lowercase ?? log.from.toLowerCase(), log.to.lowercase ?? log.to.toLowerCase(), String(log.tokenId)], [address(7), address(8), '99']);
    assert.deepEqual(delivery.body.nftTransfers.map((row) => [row.from, row.to, row.tokenId, row.contract]), [[address(7), address(8), '99', nft]]);
    const block = delivery.body.block.number;
    const shown = await ask('POST', `/streams/evm/0x1/block/${block}`, { includeContractLogs: true, topic0: ['Transfer(address,address,uint256)'], abi: [TRANSFER], addresses: [nft] });
    assert.deepEqual(shown.body.logs, delivery.body.logs);
    const again = await ask('POST', `/streams/evm/0x1/block-to-webhook/${block}/${id}`);
    assert.equal(again.status, 200, JSON.stringify(again.body));
    const [, replayed] = await until('the block again', () => receiver.of('/events').length > 1 && receiver.of('/events').filter(({ body }) => body.block.number === block));
    verify(replayed);
    assert.deepEqual(replayed.body.logs, delivery.body.logs);
    assert.equal(replayed.headers['x-sequence'], undefined);
    await api().delete({ id });
  });

  it('getHistory, getLogs, retry, getStats: what failed can be sent again', async () => {
    const actor = sender.actors[3], { id } = await add('/failing');
    await api().addAddress({ id, address: actor });
    receiver.answer('/failing', 500);
    const sent = [];
    for (let i = 0; i < 3; i++) { sent.push(await sender.send({ from: actor, to: address(11), value: 1n })); await mine(1); }
    const failed = await until('three failures', async () => { const page = await api().getHistory({ limit: 100 }); return page.raw.result.length === 3 && page; });
    assert.equal(failed.hasNext(), false);
    const rows = failed.raw.result.toReversed();
    rows.forEach((row, at) => {
      assert.deepEqual([row.streamId, row.tag, row.webhookUrl], [id, '/failing', `${receiver.url}/failing`]);
      assert.ok(row.errorMessage.length > 0);
      const delivery = receiver.of('/failing')[at];
      assert.equal(JSON.stringify(row.payload), delivery.text);
      assert.equal(row.id, delivery.headers['webhook-id']);
      assert.deepEqual(row.tinyPayload, { chainId: '0x1', confirmed: false, block: delivery.body.block.number, records: 1, retries: 0 });
      assert.ok(Date.parse(row.date) > Date.now() - 600_000);
    });
    const pages = [await api().getHistory({ limit: 2, excludePayload: true })];
    while (pages.at(-1).hasNext()) pages.push(await pages.at(-1).next());
    assert.deepEqual(pages.map((page) => page.result.length), [2, 1]);
    assert.ok(pages.every((page) => page.raw.total === 3 && page.result.every((row) => !('payload' in row))));
    for (const [query, count] of [
      [`streamId=${id}`, 3], [`streamId=${UNKNOWN}`, 0], ['chainId[]=0x1&chainId[]=0x89', 3], ['chainId[]=0x89', 0], [`blockNumber[]=${rows[0].tinyPayload.block}`, 1],
      [`blockNumber=${rows[0].tinyPayload.block},${rows[1].tinyPayload.block}`, 2], [`transactionHash=${sent[1].hash}`, 1], ['fromTimestamp=4000000000', 0], ['toTimestamp=4000000000', 3],
    ]) assert.equal((await ask('GET', `/history?limit=100&${query}`)).body.result.length, count, query);

    receiver.answer('/failing', 200);
    const taken = (await api().retry({ streamId: id, id: rows[0].id })).raw;
    assert.deepEqual([taken.id, taken.streamId], [rows[0].id, id]);
    const again = await until('the replay', () => receiver.of('/failing').length === 4 && receiver.of('/failing')[3]);
    verify(again);
    for (const name of ['webhook-id', 'x-sequence', 'x-digest']) assert.equal(again.headers[name], receiver.of('/failing')[0].headers[name], name);
    await until('the history without it', async () => (await api().getHistory({ limit: 100 })).raw.result.length === 2);
    await refusal(() => api().retry({ streamId: id, id: UNKNOWN }), 404, 'History not found');
    await refusal(() => api().retry({ streamId: UNKNOWN, id: rows[0].id }), 404, 'Stream not found');

    const ofStream = (page) => page.raw.result.filter((row) => row.streamId === id);
    const logs = await until('four attempts', async () => { const page = await api().getLogs({ limit: 100 }); return ofStream(page).length === 4 && page; });
    const mineOnly = ofStream(logs);
    assert.deepEqual(mineOnly.map((row) => row.deliveryStatus), ['success', 'failed', 'failed', 'failed']);
    assert.ok(mineOnly.every((row) => row.type === 'evm' && row.chain === '0x1' && Number.isInteger(row.blockNumber)));
    assert.ok(logs.result.every((row) => row.chain.apiHex === '0x1'));
    const byStatus = async (words) => (await ask('GET', `/history/logs?limit=100&streamId=${id}&${words}`)).body.result.length;
    assert.deepEqual([await byStatus('deliveryStatus[]=failed'), await byStatus('deliveryStatus[]=success'), await byStatus('deliveryStatus[]=failed&deliveryStatus[]=success')], [3, 1, 4]);

    const all = (await api().getStats()).raw, one = (await api().getStatsById({ streamId: id })).raw;
    assert.deepEqual([one.totalWebhooksDelivered, one.totalWebhooksFailed], [1, 3]);
    assert.deepEqual(all.streams.find((row) => row.streamId === id), one);
    assert.ok(all.totalWebhooksFailed >= 3);
    await refusal(() => api().getStatsById({ streamId: UNKNOWN }), 404, 'Stat not found');
    await api().delete({ id });
  });

  it('another tenant sees nothing of it, and nobody without a key', async () => {
    const { id } = await add('/tenants');
    const admin = await fetch(`${headwater.url}/admin/v1/keys`, { method: 'POST', headers: { 'x-api-key': headwater.key, 'content-type': 'application/json' }, body: JSON.stringify({ tenant: 'other', name: 'other' }) });
    const { key } = await admin.json();
    const as = async (apiKey, path) => { const response = await fetch(headwater.url + path, { headers: apiKey ? { 'x-api-key': apiKey } : {} }); return [response.status, await response.json()]; };
    assert.deepEqual(await as(key, `/streams/evm/${id}`), [404, { message: 'Stream not found' }]);
    assert.equal((await as(key, '/streams/evm?limit=10'))[1].total, 0);
    assert.notEqual((await as(key, '/settings'))[1].secretKey, secret);
    assert.equal((await as(undefined, `/streams/evm/${id}`))[0], 401);
    assert.equal((await as('wrong', `/streams/evm/${id}`))[0], 401);
    await api().delete({ id });
  });
});
