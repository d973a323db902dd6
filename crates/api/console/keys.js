// API keys: made, limited, revoked, and what each of them used.
import { get, post, remove } from './api.js';
import { h, put } from './dom.js';
import { count, time } from './format.js';
import { badge, busy, button, card, confirm, copyable, empty, field, mono, notice, select, stat, stats, table } from './ui.js';

const LOOK_MS = 5000;

export async function show(page, context) {
  const mine = h('div', {}), made = h('div', {}), list = h('div', {}), problem = h('div', {});
  const drawMine = (session) => put(mine, stats(
    stat('This key', session.name || session.key_id, `${session.role} of ${session.tenant}`),
    stat('Requests', count(session.usage.requests), 'since the server started'),
    stat('Compute units', count(session.usage.units)),
    stat('Refused', count(session.usage.refused), 'nothing was left of the limit')));
  drawMine(await context.refreshSession());
  const isAdmin = context.session.role === 'admin';
  const drawList = async () => {
    if (!isAdmin) return;
    const keys = await get('/admin/v1/keys');
    if (context.isShown()) put(list, keysTable(keys, context, problem, drawList));
  };
  put(page, h('div.title-row', {}, h('h1', {}, 'Keys and usage')), mine, problem, made,
    isAdmin ? [card('New key', {}, createForm(made, drawList)), list] : card('Keys', {}, empty('Only admins manage keys', 'You see what your own key used.')));
  await drawList();
  const timer = setInterval(async () => {
    try { drawMine(await context.refreshSession()); await drawList(); } catch { /* the next look tells */ }
  }, LOOK_MS);
  context.until(() => clearInterval(timer));
}

const words = (text) => text.split(/[\s,]+/).filter(Boolean);

function createForm(made, drawList) {
  const name = h('input', { type: 'text', maxlength: 200, autocomplete: 'off' });
  const tenant = h('input', { type: 'text', maxlength: 200, value: 'default', required: true, autocomplete: 'off' });
  const role = select([['tenant', 'Tenant'], ['admin', 'Admin']]);
  const limit = h('input', { type: 'number', min: 0, max: 4294967295, placeholder: 'the server’s' });
  const allow = h('input', { type: 'text', placeholder: 'eth_call, trace_*', autocomplete: 'off' }), deny = h('input', { type: 'text', placeholder: 'debug_*', autocomplete: 'off' });
  const problem = h('div', {});
  const submit = button('Create key', null, { kind: 'primary', type: 'submit', glyph: 'plus' });
  const form = h('form.grid-form', {}, field('Name', name, 'For people.'), field('Tenant', tenant, 'Streams belong to a tenant.'), field('Role', role), field('Units a second', limit, '0 is no limit.'), field('Only these methods', allow, 'Of the node RPC.'), field('Not these methods', deny), h('div.form-end', {}, submit), problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const body = { name: name.value, tenant: tenant.value, role: role.value, allow_methods: words(allow.value), deny_methods: words(deny.value) };
    if (limit.value !== '') body.units_per_second = Number(limit.value);
    const key = await busy(submit, problem, () => post('/admin/v1/keys', body));
    if (!key) return;
    form.reset();
    put(made, notice('good', h('p', {}, h('strong', {}, 'The key is shown this once. '), 'Only its hash is stored.'), h('p.secret', {}, mono(key.key), copyable(key.key, 'key'))));
    await drawList();
  });
  return form;
}

function keysTable(keys, context, problem, drawList) {
  const mine = (key) => key.id === context.session.key_id;
  const revoke = async (key, control) => {
    const text = mine(key) ? 'It is the key of this session: you will be logged out.' : 'Whoever uses it is refused from now on, and logged out of the console.';
    if (!await confirm(`Revoke ${key.name || key.id}?`, text, 'Revoke')) return;
    await busy(control, problem, () => remove(`/admin/v1/keys/${encodeURIComponent(key.id)}`));
    if (context.isShown() && !mine(key)) await drawList();
  };
  const methods = (key) => [key.allow_methods?.length ? `only ${key.allow_methods.join(', ')}` : '', key.deny_methods?.length ? `not ${key.deny_methods.join(', ')}` : ''].filter(Boolean).join('; ');
  return card('Keys', { flush: true, note: 'usage since the server started' }, table('API keys', [
    { title: 'Name', cell: (key) => [h('strong', {}, key.name || '–'), mine(key) && [' ', badge('this one', 'accent')], h('div.muted.small.mono', {}, key.id)] },
    { title: 'Tenant', cell: (key) => key.tenant },
    { title: 'Role', cell: (key) => badge(key.role, key.role === 'admin' ? 'accent' : 'plain') },
    { title: 'Limit', numeric: true, cell: (key) => (key.units_per_second === null ? h('span.muted', {}, 'the server’s') : key.units_per_second === 0 ? 'none' : `${count(key.units_per_second)} / s`) },
    { title: 'Methods', cell: (key) => methods(key) || h('span.muted', {}, 'all') },
    { title: 'Requests', numeric: true, cell: (key) => count(key.usage?.requests) },
    { title: 'Units', numeric: true, cell: (key) => count(key.usage?.units) },
    { title: 'Refused', numeric: true, cell: (key) => count(key.usage?.refused) },
    { title: 'Created (UTC)', cell: (key) => h('span.tabular', {}, time(key.created_at, false)) },
    { title: '', label: 'Actions', cell: (key) => { const control = button('Revoke', () => revoke(key, control), { kind: 'small danger', label: `Revoke ${key.name || key.id}` }); return control; } },
  ], keys, { none: empty('No stored keys', 'The key of the configuration is not listed. Make one above for everyone else.'), rowProps: (key) => ({ dataset: { key: key.id } }) }));
}
