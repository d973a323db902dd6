// A new stream: where it sends, what it watches, and a look at what it would send of a block before it exists.
import { post, put as putRequest } from './api.js';
import { eventsOf, KNOWN_EVENTS, signature } from './abi.js';
import { h, put } from './dom.js';
import { count, plural } from './format.js';
import { blocksOf } from './live.js';
import { busy, button, card, checkbox, field, notice, select } from './ui.js';

/** Addresses in any text: lines, commas, a column of a spreadsheet. */
export function addressesOf(text) {
  const found = text.match(/0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g) ?? [];
  return [...new Set(found.map((address) => address.toLowerCase()))];
}

export async function show(page, context) {
  const form = controls(context);
  const problem = h('div', {}), preview = h('div', {});
  const create = button('Create stream', null, { kind: 'primary', type: 'submit', glyph: 'plus' });
  const look = button('Preview a block', () => busy(look, problem, () => showPreview(form, preview, context)));
  const root = h('form.stack', {},
    card('Where it goes', {}, h('div.pair-form', {}, field('Description', form.description), field('Tag', form.tag, 'Comes with every webhook.')), field('Webhook URL', form.url, 'It gets a test call first, and has to answer 2xx.')),
    card('What it watches', {}, h('fieldset', {}, h('legend', {}, 'Chains'), h('div.checks', {}, form.chains)), h('fieldset', {}, h('legend', {}, 'What is sent'), h('div.checks', {}, form.native, form.logs, form.inner)), form.eventPart,
      field('Addresses', form.addresses, form.addressHint), h('div.checks', {}, form.all)),
    card('When', {}, h('div.checks', {}, form.unconfirmed, form.retractions), h('div.grid-form', {}, field('From a past block', form.from, 'Blocks from this one on come first, from the store.'))),
    problem, h('div.form-end', {}, create, look), preview);
  root.addEventListener('submit', async (event) => {
    event.preventDefault();
    const made = await busy(create, problem, () => createStream(form));
    if (made) location.hash = `#/streams/${made.id}`;
  });
  put(page, h('div.title-row', {}, h('h1', {}, 'New stream')), root);
  form.description.focus();
}

function controls(context) {
  const form = {
    description: h('input', { type: 'text', required: true, autocomplete: 'off' }), tag: h('input', { type: 'text', autocomplete: 'off' }),
    url: h('input', { type: 'url', required: true, placeholder: 'https://example.org/webhook', autocomplete: 'off' }),
    chains: context.session.chains.map((chain) => checkbox(chain.name, chain.slug === context.chain, { value: chain.hex_id })),
    native: checkbox('Transactions', true), logs: checkbox('Logs', true), inner: checkbox('Internal transactions', false),
    addresses: h('textarea.mono', { rows: 4, spellcheck: 'false', placeholder: '0x…' }), all: checkbox('Every address (needs an event)', false),
    unconfirmed: checkbox('Also before the block is confirmed', true), retractions: checkbox('Tell when a block that was sent is reverted', false),
    from: h('input', { type: 'text', inputmode: 'numeric', pattern: '[0-9]*', autocomplete: 'off' }),
    addressHint: h('span', {}, 'Paste as many as you like; anything around them is left out.'), events: [],
  };
  form.addresses.addEventListener('input', () => put(form.addressHint, `${plural(addressesOf(form.addresses.value).length, 'address', 'addresses')} found`));
  form.eventPart = eventPart(form);
  return form;
}

/** No event, a known one, or those of a pasted ABI. */
function eventPart(form) {
  const kind = select([['', 'Every log of the addresses'], ...KNOWN_EVENTS.map(([name], n) => [String(n), name]), ['abi', 'Events of an ABI that I paste']]);
  const below = h('div', {});
  const pasted = h('textarea.mono', { rows: 5, spellcheck: 'false', placeholder: '[{ "type": "event", "name": … }]' });
  const choices = h('div.checks', {});
  const read = () => {
    form.events = [];
    if (!pasted.value.trim()) { put(choices); return; }
    try {
      const boxes = eventsOf(pasted.value).map((one) => ({ ...one, box: checkbox(one.signature, true) }));
      form.events = boxes;
      put(choices, boxes.map((one) => one.box));
    } catch (error) {
      put(choices, notice('warn', error.message));
    }
  };
  pasted.addEventListener('input', read);
  kind.addEventListener('change', () => {
    const known = KNOWN_EVENTS[Number(kind.value)];
    form.events = kind.value !== '' && known ? [{ item: known[1], signature: signature(known[1]) }] : [];
    put(below, kind.value === 'abi' && [field('ABI', pasted, 'As a compiler writes it.'), choices]);
    if (kind.value === 'abi') read();
  });
  return h('div', {}, field('Event', kind), below);
}

function bodyOf(form) {
  const is = (line) => line.input.checked;
  const events = form.events.filter((one) => !one.box || is(one.box));
  const body = {
    webhookUrl: form.url.value.trim(), description: form.description.value, tag: form.tag.value,
    chainIds: form.chains.filter(is).map((line) => line.input.value),
    includeNativeTxs: is(form.native), includeContractLogs: is(form.logs), includeInternalTxs: is(form.inner), allAddresses: is(form.all),
    includeUnconfirmed: is(form.unconfirmed), includeRetractions: is(form.retractions),
  };
  if (events.length) Object.assign(body, { topic0: events.map((one) => one.signature), abi: events.map((one) => one.item) });
  if (form.from.value.trim()) body.fromBlock = Number(form.from.value);
  return body;
}

async function createStream(form) {
  const addresses = addressesOf(form.addresses.value);
  const made = await putRequest('/streams/evm', bodyOf(form));
  if (addresses.length) await post(`/streams/evm/${made.id}/address`, { address: addresses });
  return made;
}

/** What the stream would send of the newest blocks: the first of them that has something. */
async function showPreview(form, place, context) {
  // What decides where it goes and when is no part of this question.
  const { webhookUrl, description, chainIds: [hex], includeUnconfirmed, includeRetractions, fromBlock, ...matching } = bodyOf(form);
  const chain = context.session.chains.find((one) => one.hex_id === hex);
  if (!chain) throw new Error('Choose a chain first.');
  const addresses = addressesOf(form.addresses.value);
  const query = { ...matching, addresses };
  const blocks = [...blocksOf(chain.slug)].reverse().slice(0, 10);
  let payload = null;
  for (const block of blocks) {
    payload = await post(`/streams/evm/${hex}/block/${block.number}`, query);
    if (payload?.txs?.length || payload?.logs?.length || payload?.txsInternal?.length) break;
  }
  if (!payload) throw new Error('There is no stored block to look at.');
  const found = [[payload.txs, 'transaction'], [payload.logs, 'log'], [payload.txsInternal, 'internal transaction']].map(([list, name]) => plural(list?.length ?? 0, name)).join(', ');
  put(place, card('What it would send', { note: `of block ${count(payload.block?.number)}: ${found}` }, h('pre.json', { tabindex: '0' }, JSON.stringify(payload, null, 2))));
}
