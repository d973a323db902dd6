// What pages are put together from: cards, tables, badges, empty states, links to other pages.
import { h, icon, put } from './dom.js';
import { blockRanges, pick, short } from './format.js';

export const badge = (text, tone = 'plain', title) => h('span.badge', { class: tone, title }, text);

export function card(title, { actions, note, flush } = {}, ...children) {
  const head = title && h('header.card-head', {}, h('h2', {}, title), note && h('span.muted.small', {}, note), actions && h('div.actions', {}, actions));
  return h('section.card', { class: flush ? 'flush' : '' }, head, ...children);
}

export const stat = (label, value, note) => h('div.stat', {}, h('dt', {}, label), h('dd', {}, value), note && h('dd.note', {}, note));
export const stats = (...all) => h('dl.stats', {}, ...all.filter(Boolean).map((one) => one));

export const empty = (title, text, ...actions) => h('div.empty', {}, h('p.empty-title', {}, title), text && h('p.muted', {}, text), actions.length > 0 && h('div.actions', {}, ...actions));

export const loading = (text = 'Loading…') => h('div.loading', { role: 'status' }, h('span.spinner', { 'aria-hidden': 'true' }), text);

export const notice = (tone, ...children) => h('div.notice', { class: tone, role: tone === 'bad' ? 'alert' : 'status' }, icon('warn'), h('div', {}, ...children));

/** A refusal as the server worded it, with the fields it names. */
export function failure(error) {
  const details = Object.entries(error.details ?? {});
  return notice('bad', h('p', {}, error.message), details.length > 0 && h('ul', {}, details.map(([name, { message }]) => h('li', {}, h('code', {}, name), ': ', message))));
}

export function button(text, onclick, { kind = '', glyph, label, type = 'button', disabled } = {}) {
  return h('button.button', { type, onclick, class: kind, 'aria-label': label, disabled }, glyph && icon(glyph), text);
}

/** Disabled while it works, and what goes wrong is shown in `place`. */
export async function busy(control, place, work) {
  control.disabled = true;
  control.setAttribute('aria-busy', 'true');
  put(place);
  try {
    return await work();
  } catch (error) {
    put(place, failure(error));
    return undefined;
  } finally {
    control.disabled = false;
    control.removeAttribute('aria-busy');
  }
}

export function copyable(text, label) {
  const control = h('button.copy', { type: 'button', 'aria-label': `Copy ${label}`, title: `Copy ${label}` }, icon('copy'));
  control.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      put(control, icon('check'));
      setTimeout(() => put(control, icon('copy')), 1200);
    } catch {
      control.title = 'This page may not write to the clipboard';
    }
  });
  return control;
}

/** columns: [{ title, cell(row), numeric, wide }]. The table scrolls by itself where it is wider than the page. */
export function table(caption, columns, rows, { none, rowProps, kind = '' } = {}) {
  if (!rows.length) return none ?? empty('Nothing here', '');
  const head = h('tr', {}, columns.map((column) => h('th', { scope: 'col', class: column.numeric ? 'numeric' : '' }, column.title || h('span.hidden-text', {}, column.label ?? 'Actions'))));
  const body = rows.flatMap((row, n) => {
    const cells = columns.map((column) => h('td', { class: column.numeric ? 'numeric' : '' }, column.cell(row, n)));
    return [h('tr', rowProps?.(row, n) ?? {}, cells)];
  });
  return h('div.table-scroll', { tabindex: '0', role: 'region', 'aria-label': caption }, h('table', { class: kind }, h('caption.hidden-text', {}, caption), h('thead', {}, head), h('tbody', {}, body)));
}

export const mono = (text, title) => h('span.mono', { title }, text);

export const link = (href, text, props) => h('a', { href, ...props }, text);
export const wallet = (chain, address, label) => (address ? link(`#/${chain}/wallet/${address}`, label || short(address), { class: label ? '' : 'mono', title: address }) : h('span.muted', {}, '–'));
export const transaction = (chain, hash) => link(`#/${chain}/tx/${hash}`, short(hash), { class: 'mono', title: hash });
export const block = (chain, number) => link(`#/${chain}/block/${number}`, Number(number).toLocaleString('en-US'), { class: 'tabular' });

export function field(label, control, hint) {
  const id = control.id || `f-${Math.random().toString(36).slice(2)}`;
  control.id = id;
  const described = hint && `${id}-hint`;
  if (described) control.setAttribute('aria-describedby', described);
  return h('div.field', {}, h('label', { for: id }, label), control, hint && h('p.hint', { id: described }, hint));
}

export function select(options, value) {
  const control = h('select', {}, options.map(([key, text]) => h('option', { value: key }, text)));
  control.value = value ?? options[0]?.[0] ?? '';
  return control;
}

export function checkbox(label, checked, props = {}) {
  const input = h('input', { type: 'checkbox', checked, ...props });
  const line = h('label.check', {}, input, h('span', {}, label));
  line.input = input;
  return line;
}

/** Asks before something is done that cannot be undone. */
export function confirm(title, text, action) {
  return new Promise((done) => {
    const close = (answer) => { dialog.close(); dialog.remove(); done(answer); };
    const dialog = h('dialog', { 'aria-label': title },
      h('h2', {}, title), h('p.muted', {}, text),
      h('div.actions', {}, button('Cancel', () => close(false)), button(action, () => close(true), { kind: 'danger' })));
    dialog.addEventListener('cancel', () => close(false));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** What an answer rests on, where that is not everything. */
export function coverageNote(note) {
  if (!note) return null;
  const parts = [];
  if (note.partial) parts.push(`Only some of the asked blocks are stored (${blockRanges(note.indexed)}).`);
  if (note.traces === 'missing') parts.push('Internal transactions of some rows are not known: no node could trace their blocks.');
  if (note.receipts === 'missing') parts.push('Receipts of some rows are missing.');
  return parts.length ? notice('warn', parts.join(' ')) : null;
}

export const toneOf = (level) => pick({ verified: 'good', partial: 'warn', unverified: 'bad' }, level, 'plain');
