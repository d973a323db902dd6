// Clients that others' tools generate from /openapi.json, making real calls on the demo.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startConforming, takeHeld } from '../support/conforming.mjs';
import { startDemo } from '../support/processes.mjs';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
/** Beside the packages, where the compiler finds them. */
const folder = `${here}node_modules/.generated-client`;
const tool = (file) => `${here}node_modules/${file}`;
let demo, conforming;

before(async () => {
  demo = await startDemo();
  conforming = await startConforming(demo.url);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder);
  fs.writeFileSync(`${folder}/package.json`, '{ "type": "module" }');
  fs.writeFileSync(`${folder}/env.d.ts`, 'declare const process: { env: Record<string, string | undefined> };\n');
  fs.copyFileSync(`${here}openapi_client.ts`, `${folder}/client.ts`);
  await run(process.execPath, [tool('openapi-typescript/bin/cli.js'), `${demo.url}/openapi.json`, '-o', `${folder}/schema.ts`]);
});
after(async () => {
  await conforming?.stop();
  await demo?.stop();
});

/** By these settings alone: nothing that happens to be installed adds to the types. */
async function compile(file) {
  const compilerOptions = { strict: true, skipLibCheck: true, target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom'], types: [] };
  fs.writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files: [file, 'env.d.ts'] }));
  await run(process.execPath, [tool('typescript/lib/tsc.js'), '-p', folder]).catch((error) => { throw new Error(`${error.stdout}${error.stderr}`); });
}

describe('generated clients', () => {
  it('TypeScript: compiles by its types alone and gets what the server says', async () => {
    await compile('client.ts');
    const env = { ...process.env, HEADWATER_URL: conforming.url, HEADWATER_KEY: demo.key, WALLET: demo.inner, STREAM: demo.stream };
    const said = JSON.parse((await run(process.execPath, [`${folder}/client.js`], { env })).stdout);
    const headers = { 'x-api-key': demo.key, 'x-wire-profile': 'live' };
    const { result } = await (await fetch(`${demo.url}/api/v2.2/${demo.inner}?chain=demo&limit=3&to_block=50&include=internal_transactions`, { headers })).json();
    assert.ok(result.length > 0);
    assert.deepEqual(said.hashes, result.map((row) => row.hash));
    assert.equal(said.wei, String(result.reduce((sum, row) => sum + BigInt(row.value), 0n)));
    assert.equal(said.status, 'active');
    assert.match(said.refusal, /Validation Failed|nobody/);
    assert.deepEqual([said.key, said.revoked], ['from TypeScript', true]);
    assert.deepEqual(said.called, { jsonrpc: '2.0', id: 7, result: '0x539' });
  });

  it('TypeScript: what the document does not have does not compile', async () => {
    const good = fs.readFileSync(`${folder}/client.ts`, 'utf8');
    for (const [from, to] of [["'/api/v2.2/{address}'", "'/api/v2.2/{adress}'"], ['limit: 3', "limit: 'three'"], ['row.hash', 'row.hush'], ["header: { 'X-Wire-Profile': 'live' }", "header: { 'X-Wire-Profile': 'dead' }"]]) {
      assert.ok(good.includes(from), from);
      fs.writeFileSync(`${folder}/wrong.ts`, good.replace(from, to));
      await assert.rejects(compile('wrong.ts'), /wrong\.ts\(\d+,\d+\): error TS2\d\d\d/, to);
    }
  });

  it('Python: a package is generated without a warning, and its calls come back as its classes', async () => {
    const python = process.env.HEADWATER_PYTHON ?? 'python3';
    const env = { ...process.env, HEADWATER_URL: conforming.url, HEADWATER_KEY: demo.key, WALLET: demo.exchange, COLLECTION: demo.nft, STREAM: demo.stream };
    const { stderr } = await run(python, [`${here}openapi_client.py`], { env }).catch((error) => { throw new Error(`${error.stdout}${error.stderr}`); });
    assert.match(stderr, /Ran [4-9] tests/);
    assert.match(stderr, /^OK$/m);
  });

  it('every answer that they got is as the document says', () => {
    const { faults, checked } = takeHeld();
    assert.deepEqual(faults, []);
    assert.ok(checked >= 12, `${checked}`);
  });

  it('a process that got another answer than the document says ends with a failure', async () => {
    const script = `
      import http from 'node:http';
      import { startConforming } from '${here}../support/conforming.mjs';
      const book = await (await fetch('${demo.url}/openapi.json')).text(), answers = { '/openapi.json': book, '/health/live': process.argv[1] };
      const server = http.createServer((request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(answers[request.url])).listen(0, '127.0.0.1');
      await new Promise((done) => server.on('listening', done));
      const { url } = await startConforming('http://127.0.0.1:' + server.address().port);
      await (await fetch(url + '/health/live')).text();
      setImmediate(() => process.exit());`;
    const ended = (answer) => run(process.execPath, ['--input-type=module', '-e', script, answer]).then(({ stderr }) => [0, stderr], ({ code, stderr }) => [code, stderr]);
    const good = await (await fetch(`${demo.url}/health/live`)).text();
    assert.deepEqual(await ended(good), [0, '1 answers held against /openapi.json, 0 not as it says\n']);
    const [code, told] = await ended('{"status":7}');
    assert.equal(code, 1);
    assert.match(told, /not as \/openapi\.json says: GET \/health\/live 200: /);
  });
});
