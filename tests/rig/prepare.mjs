// Makes a working copy of the chain rig, because its own folder may be read-only, and sets it up
// once: npm packages, contracts, genesis. Done again only when the rig's files change.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratch } from '../support/processes.mjs';

const source = path.resolve(process.env.HEADWATER_RIG ?? fileURLToPath(new URL('../../../shared/rig', import.meta.url)));
export const rigFolder = path.join(scratch, 'rig');
const stamp = path.join(rigFolder, '.prepared');
const PARTS = ['package.json', 'package-lock.json', 'scripts', 'contracts'];

function filesOf(part) {
  const file = path.join(source, part);
  if (!fs.statSync(file).isDirectory()) return [file];
  return fs.readdirSync(file, { recursive: true }).sort().map((name) => path.join(file, name)).filter((name) => fs.statSync(name).isFile());
}

function digest() {
  const hash = createHash('sha256');
  for (const file of PARTS.flatMap(filesOf)) hash.update(path.relative(source, file)).update(fs.readFileSync(file));
  return hash.digest('hex');
}

/** Copies file by file, so that the copies are ours to write whatever the source's modes are. */
function copy() {
  for (const file of PARTS.flatMap(filesOf)) {
    const to = path.join(rigFolder, path.relative(source, file));
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.writeFileSync(to, fs.readFileSync(file));
  }
}

/** Why the rig cannot be used; nothing when it can. */
export async function prepare() {
  if (!fs.existsSync(path.join(source, 'scripts/scenario.mjs'))) return 'its folder is not there (set HEADWATER_RIG)';
  const wanted = digest();
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return undefined;
  console.log('setting up the chain rig, about three minutes, once');
  fs.rmSync(rigFolder, { recursive: true, force: true });
  copy();
  for (const args of [['ci', '--no-audit', '--no-fund', '--loglevel=error'], ['run', 'setup', '--loglevel=error']]) {
    const { status } = spawnSync('npm', args, { cwd: rigFolder, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`npm ${args.join(' ')} failed in ${rigFolder}`);
  }
  fs.writeFileSync(stamp, wanted);
  return undefined;
}

// As a program: sets it up ahead of its tests.
if (process.argv[1] === fileURLToPath(import.meta.url)) await prepare();
