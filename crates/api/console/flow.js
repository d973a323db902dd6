// What a wallet received and sent, from rows of its transactions. Fees are not part of it.

/** Of one row: what came in and went out, to the smallest unit; calls inside count where they moved something. */
export function flowOf(row, wallet) {
  let [received, sent] = [0n, 0n];
  const move = (from, to, value) => {
    if (to?.toLowerCase() === wallet) received += value;
    if (from?.toLowerCase() === wallet) sent += value;
  };
  if (row.receipt_status === '1' || row.receipt_status === null) move(row.from_address, row.to_address ?? row.receipt_contract_address, BigInt(row.value));
  for (const inner of row.internal_transactions ?? []) if (!inner.error) move(inner.from, inner.to, BigInt(inner.value));
  return { received, sent };
}

const STEPS = [60, 300, 3600, 86400];

/** How wide a bar is: a day, or less where the rows lie closer together. */
export function stepOf(span) {
  return STEPS.find((step) => span / step <= 48) ?? 86400;
}

export const stepName = (step) => ({ 60: 'minute', 300: 'five minutes', 3600: 'hour', 86400: 'day' }[step]);

export function buckets(rows, wallet) {
  if (!rows.length) return { step: 86400, all: [] };
  const at = (row) => Math.floor(Date.parse(row.block_timestamp) / 1000);
  const times = rows.map(at);
  const step = stepOf(Math.max(...times) - Math.min(...times));
  const found = new Map();
  for (const row of rows) {
    const start = Math.floor(at(row) / step) * step;
    const bucket = found.get(start) ?? { x: start, received: 0n, sent: 0n, rows: 0 };
    const { received, sent } = flowOf(row, wallet);
    found.set(start, { x: start, received: bucket.received + received, sent: bucket.sent + sent, rows: bucket.rows + 1 });
  }
  return { step, all: [...found.values()].sort((a, b) => a.x - b.x) };
}
