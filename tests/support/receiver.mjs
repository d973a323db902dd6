// A small receiver of webhooks: keeps what it was sent, and answers as it is told. Test calls of a stream that is
// created or changed are answered 200 everywhere but below /refuse.
import http from 'node:http';
import { sleep } from './processes.mjs';

/**
 * Every path is a receiver of its own. Beside POSTs it takes `GET /seen?path=/x`, what came there so far, and
 * `PUT /answers`, statuses by path, for suites in other languages.
 */
export async function startReceiver() {
  const seen = [], answers = new Map();
  const of = (path) => seen.filter((request) => request.path === path && request.body.streamId !== '');

  const server = http.createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => {
      const { pathname, searchParams } = new URL(request.url, 'http://receiver');
      const say = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.method === 'GET') return say(200, of(searchParams.get('path')));
      if (request.method === 'PUT') { Object.entries(JSON.parse(text)).forEach(([path, status]) => answers.set(path, status)); return say(200, {}); }
      const body = JSON.parse(text), isTest = body.streamId === '';
      seen.push({ path: pathname, headers: request.headers, text, body });
      return say(pathname.startsWith('/refuse') ? 500 : isTest ? 200 : answers.get(pathname) ?? 200, {});
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Deliveries to a path, in the order they came. */
    of,
    /** Test calls to a path. */
    tests: (path) => seen.filter((request) => request.path === path && request.body.streamId === ''),
    answer: (path, status) => answers.set(path, status),
    stop: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }),
  };
}

/** Waits until `look` gives something. */
export async function until(what, look, timeout_ms = 60_000) {
  const deadline = Date.now() + timeout_ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited too long for ${what}`);
    await sleep(50);
  }
}

/** Settings with which a server sends to receivers on this machine and tries each delivery once. */
export const STREAMS_ENV = { HEADWATER__STREAMS__ALLOW_PRIVATE_TARGETS: '["127.0.0.0/8"]', HEADWATER__STREAMS__RETRY_S: '[3600]' };
