// What a page shows before it is told of which address: a place to put one, and those that were looked at before.
import { h, put } from './dom.js';
import { isAddress, short } from './format.js';
import { button, card, field, link } from './ui.js';

/** By kind of page; gone with the tab. */
const seen = new Map();

export function remember(kind, chain, value) {
  const before = (seen.get(kind) ?? []).filter((one) => one.value !== value || one.chain !== chain);
  seen.set(kind, [{ chain, value }, ...before].slice(0, 8));
}

export function lookup(page, { title, text, label, kind, chain, placeholder = '0x…', accepts = isAddress, wrong = 'An address is 0x and 40 hex digits.' }) {
  const input = h('input.mono', { type: 'text', placeholder, spellcheck: 'false', autocomplete: 'off', required: true });
  const form = h('form.lookup', {}, field(label, input), button('Show', null, { kind: 'primary', type: 'submit' }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const value = input.value.trim();
    input.setCustomValidity(accepts(value) ? '' : wrong);
    if (accepts(value)) location.hash = `#/${chain}/${kind}/${value.toLowerCase()}`; else input.reportValidity();
  });
  input.addEventListener('input', () => input.setCustomValidity(''));
  const before = seen.get(kind) ?? [];
  put(page, h('h1', {}, title), card(null, {}, h('p.muted.lead', {}, text), form,
    before.length > 0 && h('div.recent', {}, h('h2', {}, 'Looked at before'), h('ul', {}, before.map((one) => h('li', {}, link(`#/${one.chain}/${kind}/${one.value}`, short(one.value, 12, 8), { class: 'mono' }), ' ', h('span.muted.small', {}, one.chain)))))));
}
