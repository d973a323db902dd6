// Examples of a page of docs: code that is run as it stands, and the answer that the page shows below it.
//
// In what is shown, `…` stands for what was left out: in a text for any characters, at the end of a list for more of them, as a
// name for more fields, as a value for any.
import { spawn } from 'node:child_process';
import { parseExact } from './http.mjs';

const CUT = '…';
/** Longer lines of an answer are broken. */
const WIDTH = 140;

const programs = {
  sh: () => ['bash', ['-euo', 'pipefail']],
  js: () => [process.execPath, ['--input-type=module']],
  python: () => [process.env.HEADWATER_PYTHON ?? 'python3', ['-']],
};

/** Every piece of code of a page, with the answer that follows it at once, if there is one. */
export function examples(markdown) {
  const fences = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  return fences.flatMap((fence, at) => {
    const [all, language, code] = fence, next = fences[at + 1];
    if (!programs[language]) return [];
    const follows = next?.[1] === 'json' && !markdown.slice(fence.index + all.length, next.index).trim();
    return [{ language, code, answer: follows ? next[2] : null }];
  });
}

/** What the code printed; fails where it fails. */
export function run({ language, code }, options) {
  const [program, args] = programs[language]();
  return new Promise((done, fail) => {
    const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    let printed = '', problems = '';
    child.stdout.on('data', (piece) => { printed += piece; });
    child.stderr.on('data', (piece) => { problems += piece; });
    child.on('error', fail);
    child.on('exit', (status) => (status === 0 ? done(printed) : fail(new Error(`${language} ended with ${status}: ${problems}\n${code}`))));
    child.stdin.end(code);
  });
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Where the answer is not what is shown; nothing where it is. */
export function difference(shown, answer, at = 'answer') {
  if (shown === CUT) return null;
  if (typeof shown === 'string' && shown.includes(CUT) && typeof answer === 'string') {
    const [head, tail] = shown.split(CUT);
    return answer.startsWith(head) && answer.endsWith(tail) ? null : `${at} is ${answer}`;
  }
  if (Array.isArray(shown) && Array.isArray(answer)) {
    const isCut = shown.at(-1) === CUT, listed = isCut ? shown.slice(0, -1) : shown;
    if (isCut ? answer.length <= listed.length : answer.length !== listed.length) return `${at} has ${answer.length} elements`;
    return listed.map((one, n) => difference(one, answer[n], `${at}[${n}]`)).find(Boolean) ?? null;
  }
  if (isObject(shown) && isObject(answer)) {
    const missing = Object.keys(answer).find((name) => !(name in shown));
    if (missing && !(CUT in shown)) return `${at}.${missing} is not shown`;
    return Object.keys(shown).filter((name) => name !== CUT).map((name) => (name in answer ? difference(shown[name], answer[name], `${at}.${name}`) : `${at}.${name} is not there`)).find(Boolean) ?? null;
  }
  return shown === answer ? null : `${at} is ${JSON.stringify(answer, plain)}`;
}
const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value);

/** The answer cut in the same places as what was shown before. */
export function cutAlike(shown, answer) {
  if (shown === CUT) return CUT;
  if (typeof shown === 'string' && shown.includes(CUT) && typeof answer === 'string') {
    const [head, tail] = shown.split(CUT);
    return `${answer.slice(0, head.length)}${CUT}${tail ? answer.slice(-tail.length) : ''}`;
  }
  if (Array.isArray(shown) && Array.isArray(answer)) {
    const isCut = shown.at(-1) === CUT, listed = isCut ? shown.slice(0, -1) : shown;
    return isCut ? [...listed.map((one, n) => cutAlike(one, answer[n])), CUT] : answer.map((one, n) => cutAlike(shown[n] ?? shown[0], one));
  }
  if (isObject(shown) && isObject(answer)) {
    const kept = Object.entries(answer).filter(([name]) => name in shown || !(CUT in shown)).map(([name, value]) => [name, cutAlike(shown[name], value)]);
    return Object.fromEntries(CUT in shown ? [...kept, [CUT, CUT]] : kept);
  }
  return answer;
}

/** JSON for people: what fits a line is on one. */
export function written(value, indent = '') {
  const flat = (one) => (typeof one === 'bigint' ? String(one) : Array.isArray(one) ? `[${one.map(flat).join(', ')}]`
    : isObject(one) ? `{ ${Object.entries(one).map(([name, inner]) => `${JSON.stringify(name)}: ${flat(inner)}`).join(', ')} }` : JSON.stringify(one));
  const line = flat(value);
  if (indent.length + line.length <= WIDTH || value === null || typeof value !== 'object') return line;
  const deeper = `${indent}  `, isList = Array.isArray(value);
  const parts = isList ? value.map((one) => written(one, deeper)) : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${written(one, deeper)}`);
  // Short fields share lines.
  const lines = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && !last.includes('\n') && !part.includes('\n') && deeper.length + last.length + part.length + 3 <= WIDTH) lines[lines.length - 1] = `${last}, ${part}`;
    else lines.push(part);
  }
  return `${isList ? '[' : '{'}\n${lines.map((one) => deeper + one).join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}

export const read = parseExact;
