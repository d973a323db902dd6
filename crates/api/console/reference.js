// The API as the server describes it: operations with their parameters and shapes, and a form to try one.
import * as api from './api.js';
import { h, put } from './dom.js';
import { badge, busy, button, card, confirm, field, loading, notice, select } from './ui.js';

/** What of an answer is shown. */
const SHOWN_CHARS = 100_000;
const DEPTH_MAX = 6;
const TONES = { get: 'good', post: 'plain', put: 'plain', patch: 'plain', delete: 'bad' };

export async function show(root, context) {
  const book = await api.reference();
  const filter = h('input', { type: 'search', placeholder: 'wallet, streams, price …', spellcheck: 'false' });
  const list = h('div', {});
  const draw = () => put(list, groups(book, filter.value.trim().toLowerCase(), context));
  filter.addEventListener('input', draw);
  draw();
  put(root,
    h('h1', {}, 'API'),
    h('p.muted', {}, book.info.summary, ' The same, for tools: ', h('a', { href: '/openapi.json', target: '_blank', rel: 'noopener' }, '/openapi.json'), ' (OpenAPI 3.1).'),
    field('Search operations', filter),
    list);
}

function groups(book, wanted, context) {
  const all = Object.entries(book.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, about]) => ({ path, method, about })));
  const fits = ({ path, about }) => `${path} ${about.operationId} ${about.summary}`.toLowerCase().includes(wanted);
  const shown = book.tags.map((tag) => [tag, all.filter((one) => one.about.tags[0] === tag.name && fits(one))]).filter(([, operations]) => operations.length);
  if (!shown.length) return notice('warn', 'No operation has this in its name.');
  return shown.map(([tag, operations]) => card(tag.name, { note: tag.description }, operations.map((one) => operation(book, one, context))));
}

/** Closed it is a line; what is in it is made when it is opened. */
function operation(book, one, context) {
  const body = h('div.operation-body', {});
  const line = h('summary', {}, badge(one.method.toUpperCase(), TONES[one.method]), ' ', h('code', {}, one.path), ' ', h('span', {}, one.about.summary));
  const node = h('details.operation', { dataset: { operation: one.about.operationId } }, line, body);
  node.addEventListener('toggle', () => { if (node.open && !body.childNodes.length) put(body, opened(book, one, context)); });
  return node;
}

function opened(book, one, context) {
  const { about } = one;
  const given = about.requestBody?.content['application/json'].schema;
  const answers = Object.entries(about.responses).map(([status, answer]) => [status, resolve(book, answer)]);
  return [
    about.description && h('p', {}, about.description),
    trial(book, one, given, context),
    given && h('details', {}, h('summary', {}, 'What the body may hold'), h('pre.json', { tabindex: '0' }, shape(book, given))),
    answers.filter(([status]) => status !== 'default').map(([status, answer]) => {
      const schema = answer.content?.['application/json']?.schema;
      return h('details', {}, h('summary', {}, `${status}: ${answer.description}`), schema && h('pre.json', { tabindex: '0' }, shape(book, schema)));
    }),
  ];
}

function trial(book, one, given, context) {
  const { path, method, about } = one;
  if (path === '/{chain}/{key}' && method === 'get') return notice('plain', 'A WebSocket: use a client for it.');
  const parameters = (about.parameters ?? []).map((parameter) => resolve(book, parameter)).filter(({ name }) => !(path === '/{chain}/{key}' && name === 'key'));
  const inputs = parameters.map((parameter) => [parameter, control(book, parameter, context)]);
  const text = given && h('textarea.mono', { rows: 8, spellcheck: 'false' });
  if (text) text.value = JSON.stringify(example(book, given), null, 2);
  const out = h('div', { 'aria-live': 'polite' });
  const send = button('Try it', null, { type: 'submit', kind: 'primary' });
  const form = h('form.grid-form', {},
    inputs.map(([parameter, input]) => field(`${parameter.name}${parameter.required ? ' *' : ''}`, input, parameter.description)),
    text && h('div.wide', {}, field('Body', text)),
    h('div.form-end', {}, send));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (method !== 'get' && !await confirm(`${method.toUpperCase()} ${path}`, 'This is sent to the server, and may change what it does.', 'Send')) return;
    await busy(send, out, async () => {
      const values = inputs.map(([parameter, input]) => [parameter, input.value.trim()]).filter(([, value]) => value);
      const body = text ? JSON.parse(text.value) : undefined;
      put(out, loading());
      put(out, answered(await api.raw(method.toUpperCase(), place(path, values), body, headersOf(values))));
    });
  });
  return [form, out];
}

function control(book, parameter, context) {
  const schema = resolve(book, parameter.schema ?? {});
  const usual = parameter.name === 'chain' ? context.chain : '';
  if (schema.enum && !parameter.required) return select([['', ''], ...schema.enum.map((word) => [word, word])], '');
  if (schema.enum) return select(schema.enum.map((word) => [word, word]));
  return h('input', { type: 'text', value: usual,  required: parameter.required, spellcheck: 'false', autocomplete: 'off' });
}

/** Where this page may ask it: behind the session, but for what everybody may ask. */
function place(path, values) {
  const query = new URLSearchParams();
  let to = path === '/{chain}/{key}' ? '/rpc/{chain}' : path;
  for (const [{ name, in: part }, value] of values) {
    if (part === 'path') to = to.replace(`{${name}}`, encodeURIComponent(value));
    if (part === 'query') query.append(name, value);
  }
  const isOpen = ['/openapi.json', '/metrics', '/health/live', '/health/ready'].includes(path);
  const text = query.toString();
  return `${isOpen ? '' : '/console/api'}${to}${text ? `?${text}` : ''}`;
}

const headersOf = (values) => Object.fromEntries(values.filter(([parameter]) => parameter.in === 'header').map(([{ name }, value]) => [name, value]));

function answered({ status, headers, text }) {
  let shown = text;
  try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as it is */ }
  if (shown.length > SHOWN_CHARS) shown = `${shown.slice(0, SHOWN_CHARS)}\n… (${shown.length} characters in all)`;
  const told = headers.filter(([name]) => name.startsWith('x-') || name === 'retry-after' || name === 'content-type');
  return [
    h('p', {}, badge(String(status), status < 400 ? 'good' : 'bad'), ' ', h('span.muted.small', {}, told.map(([name, value]) => `${name}: ${value}`).join(' · '))),
    h('pre.json', { tabindex: '0', dataset: { status } }, shown),
  ];
}

/** What a `$ref` leads to. */
function resolve(book, value) {
  if (!value?.$ref) return value;
  return value.$ref.replace(/^#\//, '').split('/').reduce((at, name) => at?.[name], book) ?? {};
}

/** A schema as people read one: names, kinds, what may be left out. */
function shape(book, schema, depth = 0) {
  const at = resolve(book, schema);
  const more = (inner) => shape(book, inner, depth + 1);
  if (depth > DEPTH_MAX) return '…';
  if (at.anyOf) {
    const kinds = at.anyOf.map((inner) => shape(book, inner, depth));
    return kinds.join(kinds.some((kind) => kind.includes('\n')) ? '\nor ' : ' or ');
  }
  if (at.enum) return at.enum.map((word) => JSON.stringify(word)).join(' | ');
  if ('const' in at) return JSON.stringify(at.const);
  if (at.items) return `[ ${shape(book, at.items, depth)}, … ]`;
  if (at.properties) {
    const pad = '  '.repeat(depth + 1);
    const lines = Object.entries(at.properties).map(([name, inner]) => `${pad}${name}${at.required?.includes(name) ? '' : '?'}: ${more(inner)}`);
    return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
  }
  if (at.additionalProperties?.$ref || at.additionalProperties?.type) return `{ name: ${more(at.additionalProperties)}, … }`;
  const name = schema.$ref?.split('/').pop();
  return name ? name.toLowerCase() : [at.type ?? 'anything'].flat().join(' or ');
}

/** Something to start from: what is required or has an example, with what stands for its kind. */
function example(book, schema) {
  const at = resolve(book, schema);
  if ('const' in at) return at.const;
  if (at.examples) return at.examples[0];
  if (at.enum) return at.enum[0];
  if (at.anyOf) return example(book, at.anyOf[0]);
  const kind = [at.type].flat()[0];
  if (at.properties) {
    const named = Object.entries(at.properties).filter(([name, inner]) => at.required?.includes(name) || resolve(book, inner).examples);
    return Object.fromEntries(named.map(([name, inner]) => [name, example(book, inner)]));
  }
  return { array: [], object: {}, integer: 0, number: 0, boolean: false }[kind] ?? '';
}
