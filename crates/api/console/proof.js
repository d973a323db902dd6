// What stands behind each field: the words of docs/proof.md for the chain's family, held against what was proven of this block.
import { get } from './api.js';
import { pick } from './format.js';
import { badge } from './ui.js';

let table = null;
export async function proofTable() {
  table ??= await get('/proof');
  return table;
}

const FAMILIES = { full: 'ethereum', op_stack: 'op_stack', lenient: 'other' };
/** Which check a root of an object hangs on. */
const ROOT_OF = { Block: 'transactions', Transaction: 'transactions', 'Access list item': 'transactions', Authorization: 'transactions', Receipt: 'receipts', Log: 'receipts', Withdrawal: 'withdrawals' };

/** What proves a field of this block, and whether it does: { word, holds, note }. */
export function groundOf(rows, { object, field, verification, proven }) {
  const row = rows.find((one) => one.object === object && one.field === field);
  if (!row) return { word: "node's word", holds: false, note: 'A field that is not of the standard is told as it came.' };
  const word = row[pick(FAMILIES, verification, 'other')];
  const has = (check) => proven.includes(check);
  const holds = pick({
    'header hash': () => has('header'),
    root: () => has('header') && has(object === 'Block' && field === 'withdrawals' ? 'withdrawals' : ROOT_OF[object]),
    recovery: () => has('senders'),
    derived: () => has('header'),
    "node's word": () => false,
    'not there': () => false,
  }, word, () => false)();
  return { word, holds, note: row.note };
}

export function groundBadge(ground) {
  const sample = ground.word === 'recovery' && !ground.holds;
  if (sample) return badge('recovery, sampled', 'warn', 'Senders of this block were recovered from signatures as a sample');
  if (ground.holds) return badge(ground.word, 'good', ground.note || null);
  return badge(ground.word === "node's word" ? "node's word" : `not proven (${ground.word})`, ground.word === "node's word" ? 'plain' : 'warn', ground.note || null);
}
