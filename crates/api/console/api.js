// Asks the server. The session travels in a cookie that no script can read; the header says that it is our page that asks.
const HEADERS = { 'x-headwater-console': '1' };

/** A refusal, in the server's own words. */
export class Refused extends Error {
  constructor(status, message, details) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

let onLoggedOut = () => {};
export const whenLoggedOut = (handler) => { onLoggedOut = handler; };

async function send(method, path, body, options = {}) {
  const headers = { ...HEADERS, ...options.headers };
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin', signal: options.signal, redirect: 'error' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused(0, 'The server does not answer.');
  }
  const text = await response.text();
  let json = null;
  try { json = text ? JSON.parse(text) : null; } catch { /* told below */ }
  if (!response.ok) {
    const message = json?.message ?? `The server answered ${response.status}.`;
    if (response.status === 401 && path.startsWith('/console/api')) onLoggedOut(message);
    throw new Refused(response.status, message, json?.details);
  }
  return { json, headers: response.headers };
}

const api = (path) => `/console/api${path}`;
const query = (params) => {
  const pairs = Object.entries(params ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return pairs.length ? `?${new URLSearchParams(pairs)}` : '';
};

export const session = {
  show: async () => (await send('GET', '/console/session')).json.session,
  logIn: async (key) => (await send('POST', '/console/session', { key })).json.session,
  logOut: () => send('DELETE', '/console/session'),
};

/** An operation of the data host, with the headers that say what the answer rests on. */
export async function data(path, params, signal) {
  const { json, headers } = await send('GET', api(`/api/v2.2/${path}${query(params)}`), undefined, { signal, headers: { 'x-wire-profile': 'live' } });
  const indexed = headers.get('x-indexed-blocks');
  return { ...json, note: { indexed, partial: headers.get('x-coverage') === 'partial', traces: headers.get('x-traces'), receipts: headers.get('x-receipts') } };
}

/** How many rows a question of the data host has in all: only the plain profile counts them. */
export async function total(path, params) {
  const { json } = await send('GET', api(`/api/v2.2/${path}${query({ ...params, limit: 1 })}`), undefined, { headers: { 'x-wire-profile': 'spec' } });
  return Number(json.total);
}

export const get = async (path, params, signal) => (await send('GET', api(path) + query(params), undefined, { signal })).json;
export const put = async (path, body) => (await send('PUT', api(path), body)).json;
export const post = async (path, body) => (await send('POST', api(path), body ?? {})).json;
export const remove = async (path, body) => (await send('DELETE', api(path), body)).json;

/** Calls of the node RPC, in one batch. A call that failed is an error in its place. */
export async function rpc(chain, calls, signal) {
  const batch = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }));
  const { json, headers } = await send('POST', api(`/rpc/${encodeURIComponent(chain)}`), batch, { signal });
  const answers = new Map(json.map((answer) => [answer.id, answer]));
  const results = calls.map((_, id) => {
    const answer = answers.get(id);
    return answer?.error ? new Refused(200, answer.error.message) : answer?.result ?? null;
  });
  results.from = headers.get('x-answered-from') ?? '';
  return results;
}

/** What the server can be asked, as it describes itself. */
export const reference = () => get('/openapi.json');

/** An answer as it is, a refusal too. */
export async function raw(method, path, body, more) {
  const headers = { ...HEADERS, ...more };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin', redirect: 'error' });
  return { status: response.status, headers: [...response.headers], text: await response.text() };
}

export { HEADERS };
