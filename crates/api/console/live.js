// New blocks as the server writes them: Server-Sent Events, read with fetch so that the request can say who asks.
import { HEADERS } from './api.js';

const RETRY_MS = 3000;
/** The newest blocks of each chain by its slug, rising. */
const recent = new Map();
const listeners = new Set();
const KEPT = 60;
let stopped = true;
let abort = null;
export const state = { connected: false };

export const blocksOf = (chain) => recent.get(chain) ?? [];

/** `handler(kind, chain, block)`; returns what ends it. */
export function listen(handler) {
  listeners.add(handler);
  return () => listeners.delete(handler);
}

const tell = (kind, chain, block) => listeners.forEach((handler) => handler(kind, chain, block));

function take(kind, data, onLogout) {
  if (kind === 'logout') { stop(); onLogout('The key was revoked, or the session ended.'); return; }
  if (kind === 'recent') {
    data.forEach(({ chain, blocks }) => recent.set(chain, blocks));
    tell('recent');
    return;
  }
  const { chain, block } = data;
  let blocks = (recent.get(chain) ?? []).filter((known) => (kind === 'revert' ? known.number < block.number : known.number !== block.number));
  if (kind !== 'revert') blocks = [...blocks, block].sort((a, b) => a.number - b.number).slice(-KEPT);
  recent.set(chain, blocks);
  tell(kind, chain, block);
}

async function read(onLogout) {
  abort = new AbortController();
  const response = await fetch('/console/api/events', { headers: HEADERS, credentials: 'same-origin', signal: abort.signal });
  if (response.status === 401) { stop(); onLogout('You were logged out.'); return; }
  if (!response.ok) throw new Error(String(response.status));
  state.connected = true;
  tell('connected');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const messages = rest.split('\n\n');
    rest = messages.pop();
    for (const message of messages) {
      const kind = /^event: (.*)$/m.exec(message)?.[1];
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (kind && data) take(kind, JSON.parse(data), onLogout);
    }
  }
}

// A browser opens only so many connections to one server (six, over HTTP/1): a tab that nobody looks at gives its own back.
const HIDDEN_MS = 20_000;
let hiddenTimer = null;
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(() => abort?.abort(), HIDDEN_MS);
});
const shown = () => new Promise((done) => {
  const look = () => { if (!document.hidden) { document.removeEventListener('visibilitychange', look); done(); } };
  document.addEventListener('visibilitychange', look);
  look();
});

export async function start(onLogout) {
  if (!stopped) return;
  stopped = false;
  while (!stopped) {
    await shown();
    try { await read(onLogout); } catch { /* tried again below */ }
    if (state.connected) { state.connected = false; tell('disconnected'); }
    if (!stopped) await new Promise((done) => { setTimeout(done, RETRY_MS); });
  }
}

export function stop() {
  stopped = true;
  abort?.abort();
  recent.clear();
}
