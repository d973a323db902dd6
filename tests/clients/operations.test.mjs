// The pages of docs/operations, done: every piece of code is run as it stands, on the demo that the pages name, and what it
// prints is what the page shows. `HEADWATER_UPDATE=1` writes the answers into the pages, cut in the places where they were cut before.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cutAlike, difference, examples, read, run, written } from '../support/examples.mjs';
import { startDemo } from '../support/processes.mjs';

const here = fileURLToPath(new URL('.', import.meta.url)), folder = path.join(here, '../../docs/operations');
const pages = fs.readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
const text = (name) => fs.readFileSync(path.join(folder, name), 'utf8');

describe('docs/operations', () => {
  let demo, options;
  before(async () => {
    const index = text('README.md'), [, ...args] = /headwater (demo --as eth --fixed)/.exec(index)[1].split(' ');
    demo = await startDemo(args);
    // The line that people are told to paste.
    const pasted = /^ +export (.*)$/m.exec(demo.printed)[1].split(' ').map((one) => one.split('='));
    options = { cwd: here, env: { ...process.env, ...Object.fromEntries(pasted) } };
  });
  after(() => demo?.stop());

  it('has a page for every operation, in the index and in the guide', () => {
    assert.equal(pages.length, 7);
    const guide = fs.readFileSync(path.join(folder, '../using.md'), 'utf8');
    for (const page of pages) {
      assert.ok(text('README.md').includes(`](${page})`), `${page} is not in the index`);
      assert.ok(guide.includes(`](operations/${page})`), `${page} is not in using.md`);
    }
  });

  for (const page of pages) {
    describe(page, () => {
      const all = examples(text(page));
      it('has examples with answers', () => assert.ok(all.filter((one) => one.answer).length >= 2));
      for (const [at, example] of all.entries()) {
        it(`${example.language} ${at + 1}: ${example.code.trim().split('\n').at(-1).slice(0, 90)}`, async () => {
          const printed = await run(example, options);
          if (!example.answer) return;
          const shown = read(example.answer), answer = read(printed);
          if (process.env.HEADWATER_UPDATE) fs.writeFileSync(path.join(folder, page), text(page).replace(example.answer, () => `${written(cutAlike(shown, answer))}\n`));
          else assert.equal(difference(shown, answer), null);
        });
      }
    });
  }
});

describe('an answer that is not what is shown', () => {
  it('is found, wherever it differs', () => {
    const shown = { a: '0x1…f', list: [1n, '…'], any: '…', one: { b: 'x', '…': '…' } };
    const good = { a: '0x123f', list: [1n, 2n], any: null, one: { b: 'x', c: 1n } };
    assert.equal(difference(shown, good), null);
    for (const [wrong, where] of [
      [{ ...good, a: '0x2f' }, 'answer.a is'], [{ ...good, list: [1n] }, 'answer.list has'], [{ ...good, list: [2n, 2n] }, 'answer.list[0] is'],
      [{ ...good, more: 1n }, 'answer.more is not shown'], [{ ...good, one: { c: 1n } }, 'answer.one.b is not there'], [{ ...good, one: null }, 'answer.one is'],
    ]) assert.ok(difference(shown, wrong)?.startsWith(where), difference(shown, wrong));
    assert.deepEqual(cutAlike(shown, good), shown);
    assert.equal(difference(shown, read(written(shown))), null);
  });
});
