// Runs real clients against a running headwater: starts a node and the server, makes a chain, runs
// each suite as a program of its own, and adds up. `node tests/run.mjs [suite…]` runs some of them.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeHeld, tellHeld } from './support/conforming.mjs';
import { anvilBinary, emptyFolder, headwaterBinary, settled, startAnvil, startDemo, startHeadwater } from './support/processes.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0, todo: 0 };
const add = (counts) => Object.keys(total).forEach((name) => { total[name] += counts[name] ?? 0; });
const skips = [];
const skip = (what, why) => { skips.push(`SKIPPED: ${what}: ${why}`); console.log(skips.at(-1)); add({ skipped: 1 }); };

function run(command, args, env) {
  return new Promise((done) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (bytes) => { stderr += bytes; process.stderr.write(bytes); });
    child.on('error', (error) => done({ code: -1, stderr: String(error) }));
    child.on('exit', (code) => done({ code, stderr }));
  });
}

/** A file of node:test; its counts come from a second report beside the readable one. */
async function nodeTests(file, env = {}) {
  const report = path.join(emptyFolder('reports'), 'report.tap');
  const { code } = await run(process.execPath, [
    '--test', '--test-concurrency=1', '--test-reporter=spec', '--test-reporter-destination=stdout', '--test-reporter=tap', `--test-reporter-destination=${report}`, path.join(here, file),
  ], env);
  const text = fs.existsSync(report) ? fs.readFileSync(report, 'utf8') : '';
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const counts = { passed: count('pass'), failed: count('fail') + count('cancelled'), skipped: count('skipped'), todo: count('todo') };
  if (code !== 0 && !counts.failed) counts.failed = 1;
  add(counts);
}

async function pythonTests(file, env) {
  const python = process.env.HEADWATER_PYTHON ?? 'python3';
  const { code, stderr } = await run(python, [path.join(here, file), '--verbose'], env);
  const count = (pattern) => Number(pattern.exec(stderr)?.[1] ?? 0);
  const ran = count(/^Ran (\d+) test/m), skipped = count(/skipped=(\d+)/);
  const failed = Math.max(count(/failures=(\d+)/) + count(/errors=(\d+)/), code === 0 ? 0 : 1);
  add({ passed: Math.max(ran - failed - skipped, 0), failed, skipped });
}

/** What suites in other languages asked; an answer that is not as /openapi.json says counts as a failure. */
function addHeld() {
  const held = takeHeld();
  if (!held.checked) return;
  tellHeld(held, console.log);
  add(held.faults.length ? { failed: 1 } : { passed: 1 });
}

async function clients() {
  const { makeChain, write } = await import('./clients/expectations.mjs');
  const anvil = await startAnvil('clients-node');
  const sender = await makeChain(anvil.url);
  const headwater = await startHeadwater('clients', [anvil.url]);
  await settled(headwater, anvil.url);
  const file = path.join(emptyFolder('expectations'), 'expectations.json');
  write(file, sender, anvil.url);
  const env = { HEADWATER_URL: headwater.url, HEADWATER_KEY: headwater.key, HEADWATER_EXPECTATIONS: file };
  await nodeTests('clients/moralis.test.mjs', env);
  await nodeTests('clients/moralis_nft.test.mjs', env);
  await nodeTests('clients/node_rpc.test.mjs', env);
  await pythonTests('clients/test_moralis.py', env);
  await pythonTests('clients/test_moralis_nft.py', env);
  await pythonTests('clients/test_web3.py', env);
  // Last, since it sends.
  await pythonTests('clients/test_gateway.py', env);
  await headwater.stop();
  await anvil.stop();
}

async function prices() {
  const { makeMarket } = await import('./clients/market.mjs');
  const anvil = await startAnvil('prices-node');
  await makeMarket(anvil.url);
  const headwater = await startHeadwater('prices', [anvil.url]);
  await settled(headwater, anvil.url);
  const env = { HEADWATER_URL: headwater.url, HEADWATER_KEY: headwater.key };
  await nodeTests('clients/prices.test.mjs', env);
  await pythonTests('clients/test_prices.py', env);
  await headwater.stop();
  await anvil.stop();
}

async function streams() {
  for (const file of ['streams', 'streams_live', 'streams_calls', 'streams_reorg', 'streams_join', 'streams_nodes', 'streams_docs']) await nodeTests(`clients/${file}.test.mjs`);
  const { STREAMS_ENV, startReceiver } = await import('./support/receiver.mjs');
  const anvil = await startAnvil('streams-python-node');
  const headwater = await startHeadwater('streams-python', [anvil.url], { env: STREAMS_ENV });
  const receiver = await startReceiver();
  await settled(headwater, anvil.url);
  await pythonTests('clients/test_streams.py', { HEADWATER_URL: headwater.url, HEADWATER_KEY: headwater.key, HEADWATER_NODE: anvil.url, HEADWATER_RECEIVER: receiver.url });
  await headwater.stop();
  await receiver.stop();
  await anvil.stop();
}

async function rig() {
  const { prepare } = await import('./rig/prepare.mjs');
  const why = await prepare();
  if (why) return skip('the chain rig', why);
  await nodeTests('rig/rig.test.mjs');
  await nodeTests('rig/busy.test.mjs');
  await nodeTests('rig/streams.test.mjs');
}

async function gateway() {
  await nodeTests('clients/gateway.test.mjs');
  await nodeTests('clients/gateway_tools.test.mjs');
  await nodeTests('clients/node_traces.test.mjs');
}

async function demo() {
  await nodeTests('clients/demo.test.mjs');
  const demo = await startDemo(['--as', 'eth']);
  await pythonTests('clients/test_demo.py', { HEADWATER_URL: demo.url, HEADWATER_KEY: demo.key, WALLET: demo.exchange, COLLECTION: demo.nft, TOKEN: demo.token, STREAM: demo.stream });
  await demo.stop();
}

async function console_() {
  const { chromiumBinary } = await import('./support/browser.mjs');
  if (!chromiumBinary()) return skip('console', 'no chromium (apt-get install chromium, or set CHROMIUM to the binary)');
  for (const file of ['console', 'console_token', 'console_hostile', 'console_crowd']) await nodeTests(`clients/${file}.test.mjs`);
  if (!process.env.HEADWATER_FIXTURES) return skip('the console on recorded blocks', 'set HEADWATER_FIXTURES to the folder');
  await nodeTests('clients/console_recorded.test.mjs');
}

/** What operators install, and traces: both are judged by Python packages of those who define the formats. */
const packaging = () => pythonTests('clients/test_package.py', { HEADWATER_BIN: headwaterBinary() });
async function traces() {
  const anvil = await startAnvil('traces-node');
  await pythonTests('clients/test_traces.py', { HEADWATER_NODE: anvil.url, HEADWATER_BIN: headwaterBinary() });
  await anvil.stop();
}

const suites = { clients, gateway, prices, pools: () => nodeTests('clients/pools.test.mjs'), follow: () => nodeTests('clients/follow.test.mjs'), streams, demo, operations: () => nodeTests('clients/operations.test.mjs'), openapi: () => nodeTests('clients/openapi.test.mjs'), console: console_, package: packaging, traces, rig };
for (const [name, suite] of Object.entries(suites)) {
  if (wanted.length && !wanted.includes(name)) continue;
  const started = Date.now();
  console.log(`\n-- ${name}`);
  if (!anvilBinary()) { skip(name, 'no anvil for this machine (set ANVIL to the binary)'); continue; }
  await suite();
  addHeld();
  console.log(`-- ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
// Again, where nobody has to search for them.
if (skips.length) console.log(`\n${skips.join('\n')}`);
console.log(`\nreal clients: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped${total.todo ? `, ${total.todo} todo` : ''}`);
process.exit(total.failed || !(total.passed + total.skipped) ? 1 : 0);
