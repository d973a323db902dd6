// Charts in SVG, drawn by hand: axes with round numbers, a mark per value, and the value under the pointer or the arrow keys.
import { h, put, s } from './dom.js';
import { compact } from './format.js';

const MARGIN = { top: 12, right: 12, bottom: 26, left: 58 };

/** Round numbers that cover the range. */
export function ticks(low, high, about = 4) {
  if (!(high > low)) { const pad = Math.abs(low) || 1; return ticks(low - pad * 0.5, low + pad * 0.5, about); }
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const first = Math.floor(low / step), last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

const pad = (n) => String(n).padStart(2, '0');
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
/** Times as a clock or a calendar has them, at most so many, and how far apart they are. */
export function timeTicks(low, high, most) {
  const step = STEPS.find((one) => (high - low) / one <= most) ?? STEPS.at(-1);
  const first = Math.ceil(low / step) * step;
  const all = Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, n) => first + n * step);
  return { step, all: all.length ? all : [low] };
}

/** A time as short as its neighbours allow: a day, a day and a clock where there are several days, a clock. */
export function timeLabel(seconds, step, span) {
  const date = new Date(seconds * 1000);
  const day = `${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
  const clock = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`;
  if (step >= 86400) return `${date.getUTCFullYear()}-${day}`;
  if (span > 86400) return `${day} ${clock}`;
  return step < 60 ? `${clock}:${pad(date.getUTCSeconds())}` : clock;
}

/**
 * A frame that is drawn anew when its width changes. `draw(g, box)` gets what to draw into and x0, x1, y0, y1, and says
 * where the marks are: [{ x, y, text }].
 */
function frame(label, height, draw) {
  const tip = h('div.tip', { hidden: true, 'aria-hidden': 'true' });
  const spoken = h('span.hidden-text', { 'aria-live': 'polite' });
  const root = h('div.chart', { tabindex: '0', role: 'img', 'aria-label': `${label}. Arrow keys read the values.` });
  let marks = [], at = -1, width = 0;
  const show = (n) => {
    const mark = marks[n];
    root.querySelectorAll('.is-marked').forEach((node) => node.classList.remove('is-marked'));
    if (!mark) { tip.hidden = true; return; }
    at = n;
    mark.node?.classList.add('is-marked');
    put(tip, mark.text.map((line) => h('div', {}, line)));
    tip.hidden = false;
    const half = tip.offsetWidth / 2;
    tip.style.left = `${Math.min(Math.max(mark.x, half + 2), width - half - 2)}px`;
    tip.style.top = `${Math.max(mark.y - tip.offsetHeight - 10, 0)}px`;
    spoken.textContent = mark.text.join(', ');
  };
  const redraw = () => {
    width = root.clientWidth;
    if (!width) return;
    const canvas = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
    marks = draw(canvas, { x0: MARGIN.left, x1: width - MARGIN.right, y0: height - MARGIN.bottom, y1: MARGIN.top, width, height }) ?? [];
    at = -1;
    put(root, canvas, tip, spoken);
    tip.hidden = true;
  };
  root.addEventListener('pointermove', (event) => {
    const bounds = root.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    let best = -1, least = Infinity;
    marks.forEach((mark, n) => {
      const distance = (mark.x - x) ** 2 + (mark.byColumn ? 0 : (mark.y - y) ** 2);
      if (distance < least) { least = distance; best = n; }
    });
    show(best);
  });
  root.addEventListener('pointerleave', () => show(-1));
  root.addEventListener('blur', () => show(-1));
  root.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && marks.length) { event.preventDefault(); show((at + step + marks.length) % marks.length); }
    if (event.key === 'Enter' && marks[at]?.href) location.hash = marks[at].href;
  });
  new ResizeObserver(redraw).observe(root);
  root.redraw = redraw;
  return root;
}

function axisY(canvas, box, values, write) {
  const [low, high] = [values[0], values.at(-1)];
  const y = (value) => box.y0 - ((value - low) / (high - low)) * (box.y0 - box.y1);
  values.forEach((value) => {
    canvas.append(s(value === 0 ? 'line.axis-zero' : 'line.grid', { x1: box.x0, x2: box.x1, y1: y(value), y2: y(value) }));
    canvas.append(s('text.tick', { x: box.x0 - 8, y: y(value) + 3.5, 'text-anchor': 'end' }, write(value)));
  });
  return y;
}

function axisX(canvas, box, low, high) {
  const span = high - low || 1;
  const x = (value) => (high === low ? (box.x0 + box.x1) / 2 : box.x0 + ((value - low) / span) * (box.x1 - box.x0));
  const { step, all } = timeTicks(low, high, Math.max(3, Math.floor((box.x1 - box.x0) / 110)));
  for (const value of all) {
    const at = x(value);
    canvas.append(s('line.axis-zero', { x1: at, x2: at, y1: box.y0, y2: box.y0 + 4 }));
    const anchor = at > box.x1 - 34 ? 'end' : at < box.x0 + 20 ? 'start' : 'middle';
    canvas.append(s('text.tick', { x: at, y: box.y0 + 18, 'text-anchor': anchor }, timeLabel(value, step, span)));
  }
  return x;
}

/** points: [{ x (unix seconds), y (null is a gap), text }]. */
export function line(label, points, { write = compact, height = 240 } = {}) {
  const known = points.filter((point) => point.y !== null);
  return frame(label, height, (canvas, box) => {
    if (!known.length) return [];
    const values = known.map((point) => point.y);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const y = axisY(canvas, box, ticks(least, most), write);
    const x = axisX(canvas, box, points[0].x, points.at(-1).x);
    let path = '', pen = 'M';
    for (const point of points) {
      if (point.y === null) { pen = 'M'; continue; }
      path += `${pen}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`;
      pen = 'L';
    }
    canvas.append(s('path.line', { d: path }));
    return known.map((point) => {
      const node = s('circle.point', { cx: x(point.x), cy: y(point.y), r: 3, dataset: { x: point.x, y: point.exact ?? point.y } });
      canvas.append(node);
      return { x: x(point.x), y: y(point.y), text: point.text, byColumn: true, node };
    });
  });
}

/** points: [{ x, y, series, text, href }]; series: names in the order of their colours. */
export function scatter(label, points, series, { write = compact, height = 260 } = {}) {
  return frame(label, height, (canvas, box) => {
    if (!points.length) return [];
    const most = Math.max(...points.map((point) => point.y));
    const y = axisY(canvas, box, ticks(0, most), write);
    const times = points.map((point) => point.x);
    const [low, high] = [Math.min(...times), Math.max(...times)];
    const x = axisX(canvas, box, low, high);
    return points.map((point) => {
      const node = s(`circle.dot.series-${series.indexOf(point.series) % 6}`, { cx: x(point.x), cy: y(point.y), r: 3.5, dataset: { y: point.exact ?? point.y } });
      canvas.append(node);
      return { x: x(point.x), y: y(point.y), text: point.text, node, href: point.href };
    });
  });
}

/** What came in above the line, what went out below it. buckets: [{ x, up, down, text, upExact, downExact }], `step` seconds apart. */
export function flows(label, buckets, step, { write = compact, height = 220 } = {}) {
  return frame(label, height, (canvas, box) => {
    if (!buckets.length) return [];
    const most = Math.max(...buckets.map((one) => Math.max(one.up, one.down)), 0);
    const up = Math.max(...buckets.map((one) => one.up), 0), down = Math.max(...buckets.map((one) => one.down), 0);
    const y = axisY(canvas, box, most ? ticks(-down, up) : [-1, 0, 1], (value) => write(Math.abs(value)));
    const low = buckets[0].x, high = buckets.at(-1).x + step;
    const x = axisX(canvas, box, low, high);
    const room = (box.x1 - box.x0) / ((high - low) / step);
    const width = Math.max(2, Math.min(26, room * 0.72));
    return buckets.map((one) => {
      const middle = x(one.x + step / 2);
      const bar = (kind, value, exact) => {
        const top = kind === 'up' ? y(value) : y(0), height_ = Math.abs(y(value) - y(0));
        return s(`rect.bar.${kind}`, { x: middle - width / 2, y: top, width, height: Math.max(height_, value ? 1 : 0), dataset: { exact } });
      };
      const node = s('g', {}, bar('up', one.up, one.upExact), bar('down', -one.down, one.downExact));
      canvas.append(node);
      return { x: middle, y: y(one.up), text: one.text, byColumn: true, node };
    });
  });
}

/** Small bars without axes: how busy the newest blocks are. */
export function sparkBars(label, values, titles) {
  const most = Math.max(...values, 1), width = 240, height = 36, slots = Math.max(values.length, 60), room = width / slots;
  // The newest stands at the right, also where there are few.
  const first = slots - values.length;
  const bars = values.map((value, n) => s('rect.spark', { x: (first + n) * room + 0.5, width: Math.max(room - 1, 1), height: Math.max((value / most) * height, value ? 1.5 : 0.5), y: height - Math.max((value / most) * height, value ? 1.5 : 0.5), dataset: { value } }, s('title', {}, titles[n])));
  return s('svg.sparkbars', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, bars);
}

/** Which blocks are stored, and how far they are proven: a strip over the whole range. */
export function strip(label, pieces) {
  const width = 960, height = 14, room = width / Math.max(pieces.length, 1);
  const cells = pieces.map((piece, n) => {
    const share = piece.stored / (piece.to - piece.from + 1);
    const kind = piece.stored === 0 ? 'none' : piece.level ?? 'none';
    const text = `Blocks ${piece.from.toLocaleString('en-US')} to ${piece.to.toLocaleString('en-US')}: ${piece.stored === 0 ? 'not stored' : `${share === 1 ? 'all' : `${(share * 100).toFixed(1)} %`} stored, ${kind}${piece.has_traces === false ? ', untraced' : ''}`}`;
    const node = s(`rect.piece.${kind}`, { x: n * room, width: Math.max(room - 0.8, 0.5), y: 0, height, dataset: { stored: piece.stored, level: piece.level ?? '' } }, s('title', {}, text));
    if (share > 0 && share < 1) node.classList.add('some');
    return node;
  });
  return s('svg.strip', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, cells);
}

export const legend = (entries) => h('ul.legend', {}, entries.map(([kind, text]) => h('li', {}, h('span.swatch', { class: kind, 'aria-hidden': 'true' }), text)));
