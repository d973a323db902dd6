// Numbers, times and hashes as people read them. Amounts stay whole numbers (BigInt) until they are written.

/** What a table says of a word that a stranger may have chosen: `__proto__` is in none. */
export const pick = (table, word, otherwise) => (Object.hasOwn(table, word) ? table[word] : otherwise);

export const count = (n) => (n === null || n === undefined ? '–' : Number(n).toLocaleString('en-US'));

/** An amount in its smallest unit, cut (not rounded) to so many digits after the point. */
export function units(amount, decimals = 18, digits = 6) {
  const value = BigInt(amount);
  const text = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const part = decimals ? text.slice(text.length - decimals) : '';
  const sign = value < 0n ? '−' : '';
  const grouped = BigInt(whole).toLocaleString('en-US');
  const shown = part.slice(0, digits).replace(/0+$/, '');
  if (!shown && whole === '0' && value !== 0n) {
    const first = part.search(/[1-9]/);
    return `${sign}0.${part.slice(0, first + 3).replace(/0+$/, '')}`;
  }
  return `${sign}${grouped}${shown ? `.${shown}` : ''}`;
}

/** For drawing only. */
export const asNumber = (amount, decimals = 18) => Number(BigInt(amount)) / 10 ** decimals;

export function usd(value) {
  const n = Number(value);
  if (!Number.isFinite(n)) return '–';
  if (n === 0) return '$0';
  if (Math.abs(n) < 0.01) return `$${n.toPrecision(3)}`;
  return n.toLocaleString('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: n < 1 ? 6 : 2 });
}

export function compact(n) {
  if (n === 0) return '0';
  const size = Math.abs(n);
  if (size >= 1e15 || size < 1e-6) return n.toExponential(1);
  if (size < 1) return String(Number(n.toPrecision(3)));
  return n.toLocaleString('en-US', { notation: size >= 10000 ? 'compact' : 'standard', maximumFractionDigits: size < 10 ? 2 : size < 1000 ? 1 : 2 });
}

export function bytes(n) {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Number(n), step = 0;
  while (size >= 1024 && step < names.length - 1) { size /= 1024; step += 1; }
  return `${size >= 100 || step === 0 ? Math.round(size) : size.toFixed(1)} ${names[step]}`;
}

export const short = (hash, head = 7, tail = 5) => (hash && hash.length > head + tail + 1 ? `${hash.slice(0, head)}…${hash.slice(-tail)}` : hash ?? '–');

export const isAddress = (text) => /^0x[0-9a-f]{40}$/i.test(text);
export const isHash = (text) => /^0x[0-9a-f]{64}$/i.test(text);

const pad = (n) => String(n).padStart(2, '0');
/** UTC, as logs and blocks have it. */
export function time(when, withSeconds = true) {
  const date = when instanceof Date ? when : new Date(typeof when === 'number' ? when * 1000 : when);
  if (Number.isNaN(date.getTime())) return '–';
  const day = `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
  return `${day} ${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}${withSeconds ? `:${pad(date.getUTCSeconds())}` : ''}`;
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export const ago = (when) => {
  const then = when instanceof Date ? when.getTime() : typeof when === 'number' ? when * 1000 : Date.parse(when);
  return `${duration((Date.now() - then) / 1000)} ago`;
};

export const hexNumber = (hex) => (hex === null || hex === undefined ? null : BigInt(hex));
/** `0-99,200-250` as people read it; of many ranges the ends. */
export function blockRanges(text) {
  const ranges = (text ?? '').split(',').map((range) => range.trim()).filter(Boolean);
  const ends = ranges.map((range) => range.split('-')).filter(([from]) => /^\d+$/.test(from)).map(([from, to = from]) => [from, to]);
  if (!ends.length) return '–';
  if (ends.length <= 2) return ends.map(([from, to]) => (from === to ? count(from) : `${count(from)} to ${count(to)}`)).join(', ');
  return `${count(ranges.length)} ranges, ${count(ends[0][0])} to ${count(ends.at(-1)[1])}`;
}

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${Number(n) === 1 ? one : many}`;
