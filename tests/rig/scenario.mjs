// Runs the rig's scenario of a seed, which starts an anvil of its own and leaves it running.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { rpc } from '../support/http.mjs';
import { anvilBinary, freePort, sleep } from '../support/processes.mjs';
import { rigFolder } from './prepare.mjs';

export async function startScenario({ seed, blocks, txs, blockMs, reorgs }) {
  const port = await freePort(), out = path.join(rigFolder, 'out', `test-${seed}`), url = `http://127.0.0.1:${port}`;
  const pidFile = path.join(rigFolder, 'run', `anvil-${port}.pid`);
  fs.rmSync(pidFile, { force: true });
  const driver = spawn(process.execPath, [
    'scripts/scenario.mjs', '--seed', String(seed), '--blocks', String(blocks), '--txs', String(txs), '--port', String(port), '--out', out, '--block-ms', String(blockMs), '--keep', ...(reorgs ? ['--reorgs', reorgs.join(',')] : []),
  ], { cwd: rigFolder, env: { ...process.env, ANVIL: anvilBinary() }, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((done) => driver.on('exit', done));
  const stop = () => {
    if (driver.exitCode === null) driver.kill('SIGKILL');
    // The node is the driver's child, left running on purpose; its id is all we have of it.
    if (fs.existsSync(pidFile)) try { process.kill(Number(fs.readFileSync(pidFile, 'utf8')), 'SIGKILL'); } catch { /* gone already */ }
    fs.rmSync(pidFile, { force: true });
  };
  process.on('exit', stop);
  for (let tries = 0; ; tries++) {
    try { await rpc(url, 'eth_chainId'); break; } catch (error) {
      if (tries > 400 || driver.exitCode !== null) { stop(); throw new Error(`the scenario did not start: ${error}`); }
      await sleep(50);
    }
  }
  return {
    url, stop,
    /** What the chain's driver knows to be right. */
    async expected() {
      const code = await ended;
      if (code !== 0) throw new Error(`the scenario ended with ${code}`);
      return JSON.parse(fs.readFileSync(path.join(out, 'expected.json'), 'utf8'));
    },
  };
}
