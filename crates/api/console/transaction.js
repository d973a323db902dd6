// A transaction and its receipt as they are stored, with what proves each field.
import { get, rpc } from './api.js';
import { h, put } from './dom.js';
import { fieldTable } from './fields.js';
import { count, time, units } from './format.js';
import { proofTable } from './proof.js';
import { badge, block as blockLink, card, copyable, empty, mono, notice, stat, stats, toneOf, wallet } from './ui.js';

const LOGS = 100;

export async function show(page, context) {
  const hash = context.parts[0] ?? '';
  const answers = await rpc(context.chain, [['eth_getTransactionByHash', [hash]], ['eth_getTransactionReceipt', [hash]]]);
  if (!context.isShown()) return;
  const [transaction, receipt] = answers;
  if (transaction instanceof Error) throw transaction;
  if (!transaction) { await notFound(page, context, hash); return; }
  const number = transaction.blockNumber ? Number(BigInt(transaction.blockNumber)) : null;
  const [rows, status] = await Promise.all([proofTable(), number === null ? {} : stored(context.chain, number)]);
  if (context.isShown()) draw(page, { transaction, receipt: receipt instanceof Error ? null : receipt, number, rows, status, context, from: answers.from });
}

/** A hash of this length may also be a block's. */
async function notFound(page, context, hash) {
  const [block] = await rpc(context.chain, [['eth_getBlockByHash', [hash, false]]]);
  if (!context.isShown()) return;
  if (block && !(block instanceof Error)) { location.replace(`#/${context.chain}/block/${hash}`); return; }
  put(page, h('h1', {}, 'Transaction'), empty('There is no such transaction', `Neither the store nor a node of ${context.chain} knows this hash.`));
}

async function stored(chain, number) {
  try { return await get(`/status/${encodeURIComponent(chain)}/blocks/${number}`); } catch (error) { return { refused: error.message }; }
}

function draw(page, { transaction, receipt, number, rows, status, context, from }) {
  const chain = context.chainOf(), proven = status.proven ?? [];
  const outcome = receipt?.status === '0x1' ? badge('succeeded', 'good') : receipt?.status === '0x0' ? badge('failed', 'bad') : '–';
  const fee = receipt?.effectiveGasPrice ? BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) : null;
  const logs = receipt?.logs ?? [];
  put(page,
    h('div.title-row', {}, h('h1', {}, 'Transaction'), h('span.address', {}, mono(transaction.hash), copyable(transaction.hash, 'hash'))),
    status.refused && notice('warn', `What was proven of its block cannot be told: ${status.refused}`),
    stats(
      stat('Outcome', outcome, number === null ? 'not in a block yet' : null),
      number !== null && stat('Block', blockLink(context.chain, number), status.timestamp ? time(status.timestamp) : null),
      stat('Value', `${units(BigInt(transaction.value), chain.decimals)} ${chain.symbol}`),
      fee !== null && stat('Fee', `${units(fee, chain.decimals, 9)} ${chain.symbol}`, `${count(Number(BigInt(receipt.gasUsed)))} gas`),
      stat('Proof of its block', status.level ? badge(status.level, toneOf(status.level)) : '–', proven.length ? `recomputed: ${proven.join(', ')}` : null)),
    h('div.flow-line', {}, wallet(context.chain, transaction.from), h('span', { 'aria-hidden': 'true' }, '→'), transaction.to ? wallet(context.chain, transaction.to) : [badge('creates', 'accent'), wallet(context.chain, receipt?.contractAddress)], h('span.muted.small', {}, from && `answered from ${from}`)),
    card('Transaction', { flush: true }, fieldTable('Transaction', 'Transaction', transaction, { rows, proven, context })),
    receipt ? card('Receipt', { flush: true }, fieldTable('Receipt', 'Receipt', receipt, { rows, proven, context, skip: ['logs'] })) : card('Receipt', {}, empty('No receipt', 'It is not stored, and no node gave it.')),
    card('Logs', { flush: true, note: logs.length > LOGS ? `the first ${LOGS} of ${count(logs.length)}` : count(logs.length) },
      logs.length === 0 ? empty('No logs', 'Nothing was logged.') : logs.slice(0, LOGS).map((log, n) => h('details.log', { open: n < 3 }, h('summary', {}, `Log ${Number(BigInt(log.logIndex))} `, mono(log.address)), fieldTable(`Log ${n}`, 'Log', log, { rows, proven, context })))));
}
