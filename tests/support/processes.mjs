// Starts and stops what the tests talk to: anvil and headwater. Everything binds to 127.0.0.1, and
// whatever is still running when this process ends is ended with it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startConforming } from './conforming.mjs';
import { rpc } from './http.mjs';

const repository = fileURLToPath(new URL('../..', import.meta.url));
export const scratch = path.resolve(process.env.HEADWATER_SCRATCH ?? path.join(repository, 'target'));
export const KEY = 'client-tests-0123456789abcdef0123456789abcdef';

const children = new Set();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** A folder of its own under the scratch folder, empty. */
export function emptyFolder(name) {
  const folder = path.join(scratch, 'client-tests', name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

export function freePort() {
  return new Promise((done, fail) => {
    const server = net.createServer().on('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** A program of the npm packages of Foundry, or the file that `given` names; none on machines the packages are not made for. */
function foundryBinary(name, given) {
  const packaged = path.join(repository, `tests/clients/node_modules/@foundry-rs/${name}-linux-amd64/bin/${name}`);
  return [given, packaged].find((file) => file && fs.existsSync(file));
}
export const anvilBinary = () => foundryBinary('anvil', process.env.ANVIL);
export const castBinary = () => foundryBinary('cast', process.env.CAST);

export const headwaterBinary = () => path.resolve(process.env.HEADWATER_BIN ?? path.join(repository, 'target/debug/headwater'));

function start(command, args, options) {
  const child = spawn(command, args, options);
  children.add(child);
  child.ended = new Promise((done) => child.on('exit', (code, signal) => { children.delete(child); done({ code, signal }); }));
  return child;
}

export async function stop(child, signal = 'SIGTERM') {
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const ended = await child.ended;
  clearTimeout(late);
  return ended;
}

/** anvil that mines only when told, its transactions in the order they came in. */
export async function startAnvil(name, args = []) {
  const folder = emptyFolder(name), port = await freePort();
  const log = fs.openSync(path.join(folder, 'anvil.out'), 'w');
  const child = start(anvilBinary(), [
    '--quiet', '--host', '127.0.0.1', '--port', String(port), '--chain-id', '1', '--no-mining', '--order', 'fifo',
    '--cache-path', path.join(folder, 'cache'), ...args,
  ], { stdio: ['ignore', log, log] });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    try { await rpc(url, 'eth_chainId'); break; } catch (error) {
      if (tries > 200 || child.exitCode !== null) throw new Error(`anvil did not start: ${error}`);
      await sleep(50);
    }
  }
  return { url, ws: `ws://127.0.0.1:${port}`, child, stop: () => stop(child) };
}

/** Clients talk to the server by way of what holds its answers against /openapi.json. */
async function held(url, child) {
  const between = await startConforming(url);
  child.ended.then(() => between.stop());
  return between.url;
}

/** headwater following `nodes` ([url, …]); give `data` to go on with a folder that is there already. */
export async function startHeadwater(name, nodes, { data, env = {}, args = [] } = {}) {
  const folder = data ?? emptyFolder(name);
  const log = fs.openSync(path.join(folder, '..', `${path.basename(folder)}.headwater.log`), data ? 'a' : 'w');
  const child = start(headwaterBinary(), [
    'serve', '--listen', '127.0.0.1:0', '--data', folder, ...nodes.flatMap((url) => ['--rpc', `eth=${url}`]), ...args,
  ], { stdio: ['ignore', 'pipe', log], env: { ...process.env, HEADWATER__AUTH__BOOTSTRAP_KEY: KEY, HEADWATER__RPC__POLL_MS: '100', HEADWATER__LISTEN__DRAIN_NOTICE_MS: '0', ...env } });
  const url = await new Promise((done, fail) => {
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => { const found = /listens on (http:\S+)/.exec(line); if (found) done(found[1]); });
    child.ended.then(({ code }) => fail(new Error(`headwater ended with ${code}, see ${folder}.headwater.log`)));
  });
  return { url: await held(url, child), key: KEY, data: folder, child, stop: () => stop(child) };
}

/** Waits until headwater has exactly what the node has: same head, no gap below it, and `reverted` blocks counted, which comes after the commit. */
export async function settled(headwater, nodeUrl, { timeout_ms = 120_000, reverted = 0 } = {}) {
  const deadline = Date.now() + timeout_ms;
  for (;;) {
    const head = await rpc(nodeUrl, 'eth_getBlockByNumber', ['latest', false]);
    const status = (await (await fetch(`${headwater.url}/status`)).json()).chains.eth;
    if (status.head?.hash === head.hash && status.lag_blocks === 0 && status.ingest.blocks_missing === 0 && status.ingest.blocks_reverted >= reverted) return status;
    if (Date.now() > deadline) {
      throw new Error(`not settled: node at ${Number(head.number)} ${head.hash}, headwater ${JSON.stringify({ ...status, upstreams: status.upstreams?.upstreams })}`);
    }
    await sleep(50);
  }
}

/** `headwater demo`, with what it printed: where it listens, its key, and the addresses that are worth looking at. */
export async function startDemo(args = []) {
  const child = start(headwaterBinary(), ['demo', '--listen', '127.0.0.1:0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = await new Promise((done, fail) => {
    let text = '';
    createInterface({ input: child.stdout }).on('line', (line) => { text += `${line}\n`; if (line.startsWith('Ctrl-C')) done(text); });
    child.ended.then(({ code }) => fail(new Error(`the demo ended with ${code}`)));
  });
  const found = (pattern) => pattern.exec(printed)?.[1];
  return {
    url: found(/data host +(http:\/\/[^/\s]+)/), key: found(/API key +(\S+)/), exchange: found(/v2\.2\/(0x[0-9a-f]{40})\?/), inner: found(/v2\.2\/(0x[0-9a-f]{40})\?chain=\w+&include/),
    nft: found(/nft\/(0x[0-9a-f]{40})\/trades/), token: found(/erc20\/(0x[0-9a-f]{40})\/price/), stream: found(/streams\/evm\/([0-9a-f-]{36})\/deliveries/), printed, child, stop: () => stop(child),
  };
}
