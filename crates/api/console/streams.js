// Streams: the list, and the way to one of them or to a new one.
import { get } from './api.js';
import { h, put } from './dom.js';
import { count, pick } from './format.js';
import { badge, card, empty, link, table } from './ui.js';

export const TONES = { active: 'good', paused: 'warn', error: 'bad', terminated: 'bad' };

export async function show(page, context) {
  if (!context.session.streams) { put(page, h('h1', {}, 'Streams'), empty('No streams here', 'This server has no streams host.')); return; }
  const [what] = context.parts;
  if (what === 'new') { await (await import('./stream_form.js')).show(page, context); return; }
  if (what) { await (await import('./stream.js')).show(page, context, what); return; }
  const [{ result, total }, stats] = await Promise.all([get('/streams/evm', { limit: 100 }), get('/stats')]);
  if (!context.isShown()) return;
  const sums = new Map((stats.streams ?? []).map((one) => [one.streamId, one]));
  const chainName = (hex) => context.session.chains.find((chain) => chain.hex_id === hex)?.name ?? hex;
  const create = link('#/streams/new', 'New stream', { class: 'button primary' });
  put(page, h('div.title-row', {}, h('h1', {}, 'Streams'), h('p.muted', {}, 'Webhooks for what happens on a chain, numbered and chained'), h('div.actions', {}, create)),
    card(null, { flush: true }, table('Streams', [
      { title: 'Stream', cell: (row) => [link(`#/streams/${row.id}`, row.description || row.id), row.tag && h('div.muted.small', {}, row.tag)] },
      { title: 'Status', cell: (row) => [badge(row.status, pick(TONES, row.status, 'plain')), row.status !== 'active' && row.statusMessage && h('div.muted.small', {}, row.statusMessage)] },
      { title: 'Chains', cell: (row) => row.chainIds.map(chainName).join(', ') },
      { title: 'Webhook', cell: (row) => h('span.mono.small.break', {}, row.webhookUrl) },
      { title: 'Delivered', numeric: true, cell: (row) => count(sums.get(row.id)?.totalWebhooksDelivered ?? 0) },
      { title: 'Failed', numeric: true, cell: (row) => count(sums.get(row.id)?.totalWebhooksFailed ?? 0) },
    ], result, { none: empty('No streams yet', 'A stream sends a webhook for every block in which something happened to the addresses or events you watch.', link('#/streams/new', 'Create the first', { class: 'button primary' })), rowProps: (row) => ({ dataset: { stream: row.id } }) })),
    total > result.length && h('p.muted', {}, `The newest ${result.length} of ${count(total)}.`));
}
