// An object as it is stored: every field, its value, and what proves it.
import { h } from './dom.js';
import { count, time, units } from './format.js';
import { groundBadge, groundOf } from './proof.js';
import { block, mono, table, transaction } from './ui.js';

const LONG = 160;
const NUMBERS = new Set(['number', 'gas', 'gasUsed', 'gasLimit', 'cumulativeGasUsed', 'nonce', 'transactionIndex', 'logIndex', 'size', 'blobGasUsed', 'excessBlobGas', 'index', 'validatorIndex', 'type', 'status', 'chainId', 'yParity', 'difficulty', 'totalDifficulty']);
const GWEI = new Set(['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'baseFeePerGas', 'effectiveGasPrice', 'maxFeePerBlobGas', 'blobGasPrice']);
const ADDRESSES = new Set(['from', 'to', 'miner', 'contractAddress', 'address']);

/** A value with its meaning beside it; the stored text is always there. */
function shown(name, value, context) {
  if (value === null || value === undefined) return h('span.muted', {}, 'null');
  if (typeof value === 'object') return h('details', {}, h('summary', {}, Array.isArray(value) ? `${count(value.length)} entries` : 'object'), h('pre.json', {}, JSON.stringify(value, null, 2)));
  const text = String(value);
  const chain = context.chainOf();
  const meaning = (said) => [said, ' ', h('span.muted.small.mono', {}, text)];
  try {
    if (name === 'blockNumber') return meaning(block(context.chain, Number(BigInt(text))));
    if (name === 'timestamp' || name === 'blockTimestamp') return meaning(`${time(Number(BigInt(text)))} UTC`);
    if (name === 'value' || name === 'mint') return meaning(`${units(BigInt(text), chain.decimals, 18)} ${chain.symbol}`);
    if (GWEI.has(name)) return meaning(`${units(BigInt(text), 9, 9)} gwei`);
    if (NUMBERS.has(name) && text.length < 20) return meaning(BigInt(text).toLocaleString('en-US'));
  } catch { /* not a number: shown as it is */ }
  if (ADDRESSES.has(name) && /^0x[0-9a-fA-F]{40}$/.test(text)) return h('a.mono.break', { href: `#/${context.chain}/wallet/${text.toLowerCase()}` }, text);
  if (name === 'parentHash') return h('a.mono.break', { href: `#/${context.chain}/block/${text}` }, text);
  if (name === 'transactionHash') return transaction(context.chain, text);
  if (text.length > LONG) return h('details', {}, h('summary.mono', {}, `${text.slice(0, 42)}… (${count((text.length - 2) / 2)} bytes)`), h('div.mono.break', {}, text));
  return h('span.mono.break', {}, text);
}

export function fieldTable(caption, object, value, { rows, proven, context, skip = [] }) {
  const { verification } = context.chainOf();
  const fields = Object.keys(value).filter((name) => !skip.includes(name));
  return table(caption, [
    { title: 'Field', cell: (field) => mono(field) },
    { title: 'Value', cell: (field) => shown(field, value[field], context) },
    { title: 'Proven by', cell: (field) => groundBadge(groundOf(rows, { object, field, verification, proven })) },
  ], fields, { kind: 'fields', rowProps: (field) => ({ dataset: { field } }) });
}
