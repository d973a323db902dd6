// Builds what is shown, out of elements and text. Nothing here takes markup: whatever comes from a chain, a node or a
// stranger's webhook becomes a text node, so it can be read and never run.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** h('a.link', { href, onclick, ariaLabel… }, children…): names with a dash, `aria…` and `data…` are attributes. */
export function h(what, props = {}, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElement(tag || 'div');
  if (classes.length) node.className = classes.join(' ');
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'dataset') Object.assign(node.dataset, value);
    else if (name === 'class') node.classList.add(...String(value).split(' ').filter(Boolean));
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'hidden') node[name] = value;
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  return fill(node, children);
}

export function s(what, props = {}, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElementNS(SVG, tag);
  if (classes.length) node.setAttribute('class', classes.join(' '));
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (name === 'dataset') Object.assign(node.dataset, value);
    else node.setAttribute(name, String(value));
  }
  return fill(node, children);
}

/** Puts these in the place of what a node holds. */
export function put(node, ...children) {
  node.replaceChildren();
  return fill(node, children);
}

let lastId = 0;
export const freshId = (prefix) => `${prefix}-${++lastId}`;

/** A line icon by its paths. */
export function icon(name) {
  const paths = ICONS[name] ?? ICONS.dot;
  return s('svg.icon', { viewBox: '0 0 20 20', 'aria-hidden': 'true', focusable: 'false' }, paths.map((d) => s('path', { d })));
}

const ICONS = {
  overview: ['M3 11h5V3H3zM12 17h5V9h-5zM3 17h5v-3H3zM12 6h5V3h-5z'],
  wallet: ['M3 6.5A2.5 2.5 0 0 1 5.500 4H15v3', 'M3 6.500V14a2 2 0 0 0 2 2h12V7H5.500', 'M13.500 11.500h.01'],
  nft: ['M4 4h12v12H4z', 'M4 13l3.500-3.500L11 13l2-2 3 3', 'M12.500 7.500h.01'],
  token: ['M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14z', 'M7 11.500l2-2.500 2 2 2.500-3.500'],
  block: ['M10 3l6 3.500v7L10 17l-6-3.500v-7z', 'M4 6.500l6 3.500 6-3.500M10 10v7'],
  streams: ['M3 7c2 0 2 2 4.500 2S10 7 12.500 7 15 9 17 9', 'M3 12c2 0 2 2 4.500 2s2.500-2 5-2 2.500 2 4.500 2'],
  keys: ['M7 13a3.500 3.500 0 1 1 0-7 3.500 3.500 0 0 1 0 7z', 'M10.500 9.500H17v3M14 9.500v2'],
  reference: ['M7 5l-4 5 4 5', 'M13 5l4 5-4 5', 'M11.500 4l-3 12'],
  search: ['M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11z', 'M13 13l4 4'],
  copy: ['M7 7h9v9H7z', 'M13 7V4H4v9h3'],
  check: ['M4 10.500l4 4 8-9'],
  theme: ['M10 16a6 6 0 0 0 0-12z', 'M10 16a6 6 0 0 1 0-12'],
  out: ['M8 4H4v12h4', 'M8 10h9M14 7l3 3-3 3'],
  down: ['M10 3v9M6.500 9l3.500 3.500L13.500 9M4 16h12'],
  plus: ['M10 4v12M4 10h12'],
  chevron: ['M7 4l6 6-6 6'],
  warn: ['M10 3l7.500 13h-15z', 'M10 8v4M10 14h.01'],
  dot: ['M10 10h.01'],
};
