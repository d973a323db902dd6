// The frame around all pages: who is logged in, where one can go, what is shown.
import * as api from './api.js';
import { h, icon, put } from './dom.js';
import { isAddress, isHash } from './format.js';
import * as live from './live.js';
import { logIn } from './login.js';
import { failure, loading } from './ui.js';

const PAGES = [
  { name: 'overview', title: 'Overview', href: () => '#/', load: () => import('./overview.js') },
  { name: 'wallet', title: 'Wallets', href: (chain) => `#/${chain}/wallet`, load: () => import('./wallet.js') },
  { name: 'nft', title: 'NFT trades', href: (chain) => `#/${chain}/nft`, load: () => import('./nft.js') },
  { name: 'token', title: 'Token prices', href: (chain) => `#/${chain}/token`, load: () => import('./token.js') },
  { name: 'block', title: 'Blocks', href: (chain) => `#/${chain}/block`, load: () => import('./block.js') },
  { name: 'tx', title: 'Transaction', load: () => import('./transaction.js') },
  { name: 'streams', title: 'Streams', href: () => '#/streams', load: () => import('./streams.js') },
  { name: 'keys', title: 'Keys and usage', href: () => '#/keys', load: () => import('./keys.js') },
  { name: 'reference', title: 'API', href: () => '#/reference', load: () => import('./reference.js') },
];

const root = document.getElementById('app');
let session = null;
/** Ends what the page before started. */
let leave = () => {};

// Light, dark, or as the system says; the only thing that is kept in this browser.
const THEMES = ['system', 'light', 'dark'];
function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem('theme', theme);
}
useTheme(THEMES.includes(localStorage.getItem('theme')) ? localStorage.getItem('theme') : 'system');

function where() {
  const [path, text = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const params = new URLSearchParams(text);
  const chains = session.chains.map((chain) => chain.slug);
  if (!parts.length) return { page: 'overview', parts: [], params, chain: remembered(chains) };
  if (['streams', 'keys', 'reference'].includes(parts[0])) return { page: parts[0], parts: parts.slice(1), params, chain: remembered(chains) };
  const chain = chains.includes(parts[0]) ? parts[0] : null;
  return { page: chain ? parts[1] : null, parts: parts.slice(2), params, chain: chain ?? remembered(chains) };
}

let lastChain = null;
const remembered = (chains) => (chains.includes(lastChain) ? lastChain : chains[0] ?? '');

/** Where a text that was typed into the search leads: an address, a hash, or a block's number. */
export function target(chain, text) {
  const typed = text.trim().replace(/,/g, '');
  if (isAddress(typed)) return `#/${chain}/wallet/${typed.toLowerCase()}`;
  if (isHash(typed)) return `#/${chain}/tx/${typed.toLowerCase()}`;
  if (/^\d{1,18}$/.test(typed)) return `#/${chain}/block/${typed}`;
  return null;
}

function search(chain) {
  const input = h('input', { type: 'search', id: 'search', placeholder: 'Address, hash or block', 'aria-label': 'Search for an address, a hash or a block', spellcheck: 'false', autocomplete: 'off' });
  const form = h('form.search', { role: 'search' }, icon('search'), input, h('kbd', { 'aria-hidden': 'true' }, '/'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const found = target(chain, input.value);
    input.setCustomValidity(found ? '' : 'An address (0x and 40 digits), a hash (0x and 64 digits), or the number of a block');
    if (found) { location.hash = found; input.value = ''; input.blur(); } else input.reportValidity();
  });
  input.addEventListener('input', () => input.setCustomValidity(''));
  return form;
}

function chainPicker(place) {
  if (session.chains.length < 2) return h('span.chain-name', {}, session.chains[0]?.name ?? 'no chain');
  const control = h('select.chain-picker', { 'aria-label': 'Chain' }, session.chains.map((chain) => h('option', { value: chain.slug }, chain.name)));
  control.value = place.chain;
  control.addEventListener('change', () => {
    lastChain = control.value;
    const page = PAGES.find((one) => one.name === place.page && one.href);
    location.hash = page?.href(control.value) ?? '#/';
    render();
  });
  return control;
}

function liveMark() {
  const mark = h('span.live', { role: 'status' });
  const draw = () => put(mark, h('span.pulse', { class: live.state.connected ? 'on' : '', 'aria-hidden': 'true' }), live.state.connected ? 'Live' : 'Connecting');
  draw();
  live.listen((kind) => { if (kind === 'connected' || kind === 'disconnected') draw(); });
  return mark;
}
let mark = null;

function shell(place, main) {
  const links = PAGES.filter((page) => page.href).map((page) => h('a', { href: page.href(place.chain), 'aria-current': page.name === place.page || (page.name === 'block' && place.page === 'tx') ? 'page' : null }, icon(page.name), h('span', {}, page.title)));
  const theme = h('button.quiet', { type: 'button', title: 'Light, dark or as the system' }, icon('theme'), h('span', {}, { system: 'System', light: 'Light', dark: 'Dark' }[document.documentElement.dataset.theme]));
  theme.setAttribute('aria-label', `Theme: ${document.documentElement.dataset.theme}; change it`);
  theme.addEventListener('click', () => { useTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % 3]); render(); });
  const out = h('button.quiet', { type: 'button' }, icon('out'), h('span', {}, 'Log out'));
  out.addEventListener('click', async () => { await api.session.logOut(); loggedOut(''); });
  const who = h('div.who', {}, h('strong', {}, session.name || session.key_id), h('span.muted.small', {}, `${session.role} · ${session.tenant}`));
  return [
    h('a.skip', { href: '#main', onclick: (event) => { event.preventDefault(); document.getElementById('main').focus(); } }, 'Skip to content'),
    h('aside.side', {},
      h('a.brand', { href: '#/' }, h('img', { src: '/console/icon.svg', alt: '', width: 26, height: 26 }), h('span', {}, 'Headwater')),
      h('nav', { 'aria-label': 'Pages' }, links),
      h('div.side-end', {}, who, h('div.side-buttons', {}, theme, out), h('span.muted.small.version', {}, `version ${session.version}`))),
    h('div.body', {},
      h('header.top', {}, search(place.chain), chainPicker(place), mark ??= liveMark()),
      h('main', { id: 'main', tabindex: '-1' }, main)),
  ];
}

let shown = 0;
async function render() {
  if (!session) return;
  leave();
  const ends = [];
  leave = () => ends.splice(0).forEach((end) => end());
  const place = where();
  lastChain = place.chain;
  const content = h('div.page', {}, loading());
  const focused = document.activeElement?.id === 'search';
  put(root, shell(place, content));
  const [nav, current] = [root.querySelector('nav'), root.querySelector('nav [aria-current]')];
  if (current) nav.scrollLeft = current.offsetLeft - nav.clientWidth / 2 + current.clientWidth / 2;
  if (focused) document.getElementById('search').focus();
  const page = PAGES.find((one) => one.name === place.page);
  document.title = `${page?.title ?? 'Not found'} · Headwater`;
  const mine = ++shown;
  // What a page starts has to end with it; what it draws after that goes nowhere.
  const context = {
    ...place, session, until: (end) => (mine === shown ? ends.push(end) : end()), isShown: () => mine === shown,
    chainOf: (name) => session.chains.find((chain) => chain.slug === (name ?? place.chain)),
    refreshSession: async () => { session = await api.session.show() ?? session; return session; },
  };
  try {
    if (!page) throw new Error('There is no such page.');
    await (await page.load()).show(content, context);
  } catch (error) {
    if (mine === shown && error.name !== 'AbortError') put(content, h('h1', {}, page?.title ?? 'Not found'), failure(error));
  }
}

function loggedOut(message) {
  if (!session) return;
  session = null;
  leave();
  live.stop();
  askForKey(message);
}

function askForKey(message) {
  document.title = 'Log in · Headwater';
  logIn(root, message, (next) => { session = next; begin(); });
}

function begin() {
  live.start(loggedOut);
  render();
}

api.whenLoggedOut(loggedOut);
addEventListener('hashchange', () => { render(); scrollTo(0, 0); });
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(input|textarea|select)$/i.test(event.target.tagName)) return;
  const input = document.getElementById('search');
  if (input) { event.preventDefault(); input.focus(); }
});

try {
  session = await api.session.show();
  if (session) begin(); else askForKey('');
} catch (error) {
  put(root, h('div.login', {}, failure(error)));
}
