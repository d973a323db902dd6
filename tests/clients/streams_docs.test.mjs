// What docs/streams.md tells people to do, done: its commands as they stand there, and its two receivers. Only the ports are
// others, so that nothing else on the machine is in the way.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rpc } from '../support/http.mjs';
import { emptyFolder, freePort, headwaterBinary, startAnvil, startHeadwater, settled } from '../support/processes.mjs';
import { STREAMS_ENV, until } from '../support/receiver.mjs';

const CONFIRMATIONS = 12, ADDRESS = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const guide = fs.readFileSync(path.join(docs, 'streams.md'), 'utf8');

/** Indented text of the guide, a block each. */
const blocks = [...guide.matchAll(/(?:^ {4,}\S.*\n)+/gm)].map(([text]) => { const margin = /^ */.exec(text)[0].length; return text.split('\n').map((line) => line.slice(margin)).join('\n').trim(); });

/** A command line that goes on until it is stopped; what it prints, line by line. */
const running = new Set();
process.on('exit', () => running.forEach((one) => one.stop()));
function run(command, options) {
  const child = spawn('bash', ['-c', command], { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true }), lines = [];
  for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on('line', (line) => lines.push(line));
  const ended = new Promise((done) => child.on('exit', done));
  // The whole group: the shell and what it started.
  const one = { lines, ended, stop: () => { running.delete(one); try { process.kill(-child.pid, 'SIGTERM'); } catch { /* gone already */ } return ended; } };
  running.add(one);
  return one;
}
const says = (one, pattern) => until(`${pattern} of ${one.lines.join('\n')}`, () => one.lines.find((line) => pattern.test(line)));

async function pay(node, blocks = 1) {
  const [from] = await rpc(node, 'eth_accounts'), hash = await rpc(node, 'eth_sendTransaction', [{ from, to: ADDRESS, value: '0x7' }]);
  for (let i = 0; i < blocks; i++) await rpc(node, 'evm_mine');
  return { hash, number: Number((await rpc(node, 'eth_getTransactionReceipt', [hash])).blockNumber) };
}

describe('the commands of docs/streams.md', () => {
  let anvil, ports, shell;
  const started = [];
  const written = (start) => { const found = blocks.find((text) => text.includes(start)); assert.ok(found, `${start} is in the guide`); return Object.entries(ports).reduce((text, [port, free]) => text.replaceAll(`:${port}`, `:${free}`), found); };

  before(async () => {
    anvil = await startAnvil('streams-docs-node');
    await rpc(anvil.url, 'evm_mine');
    ports = { 9090: await freePort(), 8080: await freePort(), 8545: new URL(anvil.url).port };
    const folder = emptyFolder('streams-docs');
    fs.symlinkSync(headwaterBinary(), path.join(folder, 'headwater'));
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, HEADWATER__LISTEN__ALL: `127.0.0.1:${ports[8080]}`, HEADWATER__LISTEN__DRAIN_NOTICE_MS: '0', HEADWATER__RPC__POLL_MS: '100' };
    shell = { cwd: folder, env };
  });
  after(async () => { await Promise.all(started.map((one) => one.stop())); await anvil?.stop(); });

  const once = (command, more = {}) => {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { ...shell, env: { ...shell.env, ...more }, encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, 0, `${command}: ${stderr}`);
    return stdout.trim();
  };

  it('are all run here', () => assert.deepEqual(blocks.map((text) => text.split('\n')[0].split(/\s+/).find((word) => !word.includes("='"))), ['headwater', 'headwater', 'curl', 'GET']));

  it('from nothing to a verified webhook', async () => {
    const listener = run(written('headwater listen'), shell);
    started.push(listener);
    await says(listener, /waits for webhooks on http:/);
    const server = run(written('headwater serve'), shell);
    started.push(server);
    await says(server, /listens on http:/);
    await settled({ url: `http://127.0.0.1:${ports[8080]}` }, anvil.url);
    const [keys] = /headwater keys create/.exec(guide), KEY = once(keys);

    const [create, add] = written('curl -X PUT').split(/\n(?=curl )/);
    const { id, status } = JSON.parse(once(create, { KEY }));
    assert.equal(status, 'active');
    await says(listener, /^test call/);
    const added = JSON.parse(once(add.replace('ID', id), { KEY }));
    assert.deepEqual([added.streamId, added.address], [id, ADDRESS]);

    const { hash, number } = await pay(anvil.url);
    assert.equal(number, added.fromBlock['0x1']);
    const line = await says(listener, /^#1 /);
    assert.ok(line.includes(`block ${number} unconfirmed  1 txs, 0 logs`), line);
    const payload = JSON.parse(await says(listener, new RegExp(hash)));
    assert.deepEqual([payload.streamId, payload.tag, payload.txs[0].toAddress, payload.txs[0].value], [id, 'wallet', ADDRESS, '7']);
    for (let i = 0; i < CONFIRMATIONS; i++) await rpc(anvil.url, 'evm_mine');
    assert.ok((await says(listener, /^#2 /)).includes(`block ${number} confirmed`));
    assert.ok(!listener.lines.some((text) => text.includes('PROBLEM')), listener.lines.join('\n'));

    const [, method, where] = /^(\S+) (\S+)$/.exec(written('/deliveries?')), url = `http://127.0.0.1:${ports[8080]}`;
    const get = async (what) => (await fetch(url + what, { method, headers: { 'x-api-key': KEY } })).json();
    const { result } = await get(where.replace('ID', id).replace('<sequence>', '2'));
    assert.deepEqual(result.map((row) => [row.sequence, row.payload.block.number]), [[2, String(number)]]);

    // The same with the secret that the guide says where to find: signatures are checked, too.
    await listener.stop();
    const { secretKey } = await get('/settings'), checking = run(written('headwater listen'), { ...shell, env: { ...shell.env, HEADWATER_LISTEN_SECRET: secretKey } });
    started.push(checking);
    await says(checking, /waits for webhooks/);
    await pay(anvil.url);
    const checked = await says(checking, /^#3 /);
    assert.ok(!/PROBLEM/.test(checked), checked);
    assert.ok(!checking.lines.some((text) => text.includes('not checked')));
  });
});

describe('the receivers of docs/streams', () => {
  let anvil, headwater, secret;
  const api = async (method, where, body) => (await fetch(headwater.url + where, { method, headers: { 'x-api-key': headwater.key, 'content-type': 'application/json' }, body: body && JSON.stringify(body) })).json();

  before(async () => {
    anvil = await startAnvil('streams-receivers-node');
    await rpc(anvil.url, 'evm_mine');
    headwater = await startHeadwater('streams-receivers', [anvil.url], { env: STREAMS_ENV });
    await settled(headwater, anvil.url);
    secret = (await api('GET', '/settings')).secretKey;
  });
  after(async () => { await headwater?.stop(); await anvil?.stop(); });

  const start = async (file, program) => run(`exec '${program}' ${file} ${await freePort()}`, { cwd: path.join(docs, 'streams'), env: { ...process.env, SECRET: secret } });
  const receivers = [['receiver.mjs', process.execPath], ['receiver.py', process.env.HEADWATER_PYTHON ?? 'python3']];

  for (const [file, program] of receivers) {
    it(`${file} takes what is true and refuses the rest`, async () => {
      assert.ok(guide.includes(`(streams/${file})`));
      const example = await start(file, program);
      try {
        const url = await says(example, /^http:/), printed = () => example.lines.slice(1).map((line) => JSON.parse(line));
        const { id } = await api('PUT', '/streams/evm', { webhookUrl: url, description: file, tag: file, chainIds: ['0x1'], includeNativeTxs: true });
        await api('POST', `/streams/evm/${id}/address`, { address: ADDRESS });
        const first = await pay(anvil.url), second = await pay(anvil.url);
        await until('two payments', () => printed().length === 3);
        for (let i = 0; i < CONFIRMATIONS; i++) await rpc(anvil.url, 'evm_mine');
        await until('both again, confirmed', () => printed().length === 5);
        const line = (sequence, { number }, confirmed) => ({ sequence, block: String(number), confirmed, txs: 1, logs: 0 });
        assert.deepEqual(printed(), [{ sequence: 0, block: '', confirmed: true, txs: 0, logs: 0 }, line(1, first, false), line(2, second, false), line(3, first, true), line(4, second, true)]);
        await forge(url, id);
        assert.equal(printed().length, 6, 'only the repetition was taken');
      } finally { await example.stop(); }
    });

    it(`${file} outlives a stranger's request that has a time and no signature`, async () => {
      const example = await start(file, program);
      try {
        const url = await says(example, /^http:/), headers = { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
        for (let i = 0; i < 2; i++) assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 401);
      } finally { await example.stop(); }
    });
  }

  /** What nobody who has no secret, and nobody who left something out, may get past a receiver. */
  async function forge(url, id) {
    const [, row] = (await api('GET', `/streams/evm/${id}/deliveries?from=1&limit=2`)).result, body = JSON.stringify(row.payload), now = Math.floor(Date.now() / 1000);
    const post = async (headers, text = body) => (await fetch(url, { method: 'POST', headers, body: text })).status;
    const sign = (text, time = now, key = secret) => ({ 'webhook-id': row.id, 'webhook-timestamp': String(time), 'webhook-signature': 'v1,' + createHmac('sha256', key).update(`${row.id}.${time}.${text}`).digest('base64') });
    const numbers = { 'x-sequence': String(row.sequence), 'x-digest': row.digest, 'x-previous-digest': row.previousDigest };
    assert.equal(await post({ ...sign(body), ...numbers }), 200, 'the same again');
    assert.equal(await post({ ...sign(body, now, 'another secret'), ...numbers }), 401);
    assert.equal(await post({ ...sign(body, now - 3600), ...numbers }), 401, 'too old');
    assert.equal(await post(numbers), 401, 'not signed');
    const changed = body.replace('"value":"7"', '"value":"8"');
    assert.notEqual(changed, body);
    assert.equal(await post({ ...sign(body), ...numbers }, changed), 401, 'changed');
    assert.equal(await post({ ...sign(changed), ...numbers }, changed), 409, 'another body than the one that the digest is of');
    assert.equal(await post({ ...sign(body), ...numbers, 'x-previous-digest': '0x' + '11'.repeat(32) }), 409, 'another past');
  }
});
