// Stands between clients and the server, passes everything on as it is, and holds every answer against /openapi.json.
// What was held is counted by process: whoever runs a suite takes it, and a test file that leaves it tells it when it ends.
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import Ajv from '../clients/node_modules/ajv/dist/2020.js';

const FIRST_FAULTS = 20;
const CONSOLE = /^\/($|\?|console\/)/;
const part = (name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Says what is wrong with an answer; nothing where it is as the document says. */
export function judge(book) {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(book, 'book', undefined, false);
  const compiled = new Map();
  const validator = (pointer) => {
    if (!compiled.has(pointer)) compiled.set(pointer, ajv.compile({ $ref: `book#${pointer}` }));
    return compiled.get(pointer);
  };
  // Those with fewer places that take anything come first.
  const places = (path) => path.split('{').length;
  const paths = Object.keys(book.paths).sort((a, b) => places(a) - places(b)).map((path) => [path, new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}/?$`)]);
  const refused = '/components/responses/Refused';

  /** Where in the document the answer is described. */
  function described(method, path, status) {
    const [found] = paths.find(([one, pattern]) => pattern.test(path) && book.paths[one][method]) ?? [];
    if (!found) return status >= 400 ? refused : null;
    const { responses } = book.paths[found][method];
    const key = responses[status] ? String(status) : 'default';
    if (key === 'default' && status < 400) return null;
    return responses[key].$ref?.slice(1) ?? `/paths/${part(found)}/${method}/responses/${key}`;
  }
  const at = (pointer) => pointer.split('/').slice(1).reduce((value, name) => value[decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')], book);

  return (method, path, status, kind, text) => {
    const pointer = described(method, path, status);
    if (!pointer) return `${status} is not described`;
    const content = at(pointer).content ?? {};
    const type = (kind ?? '').split(';')[0];
    if (!content[type]) return Object.keys(content).length && text ? `it is ${type || 'of no type'}` : null;
    if (type !== 'application/json') return null;
    const validate = validator(`${pointer}/content/application~1json/schema`);
    if (validate(JSON.parse(text))) return null;
    return ajv.errorsText(validate.errors.slice(0, 4), { dataVar: 'answer' });
  };
}

const held = { checked: 0, faults: [] };

/** What was held since the last call: how many answers, and those that are not as the document says. */
export function takeHeld() {
  const taken = { ...held };
  Object.assign(held, { checked: 0, faults: [] });
  return taken;
}

export function tellHeld({ checked, faults }, write) {
  faults.forEach((fault) => write(`not as /openapi.json says: ${fault}`));
  write(`${checked} answers held against /openapi.json, ${faults.length} not as it says`);
}

process.on('exit', () => {
  const taken = takeHeld();
  if (!taken.checked) return;
  tellHeld(taken, (line) => fs.writeSync(2, `${line}\n`));
  if (taken.faults.length) process.exitCode = 1;
});

/** A URL in the place of the server's. */
export async function startConforming(target) {
  const book = await (await fetch(`${target}/openapi.json`)).json();
  const wrong = judge(book);
  const { hostname, port } = new URL(target);
  function hold(request, answer, text) {
    const method = request.method.toLowerCase();
    // The console's own files and session are nobody's interface.
    if (method === 'options' || method === 'head' || CONSOLE.test(request.url)) return;
    held.checked++;
    const why = wrong(method, request.url.split('?')[0], answer.statusCode, answer.headers['content-type'], text);
    if (why && held.faults.length < FIRST_FAULTS) held.faults.push(`${request.method} ${request.url.slice(0, 160)} ${answer.statusCode}: ${why}`);
  }
  const server = http.createServer((request, response) => {
    // Plain, so that it can be read here.
    const { 'accept-encoding': _, ...headers } = request.headers;
    const onward = http.request({ hostname, port, method: request.method, path: request.url, headers }, (answer) => {
      answer.on('error', () => response.destroy());
      // What never ends is passed on as it comes.
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        hold(request, answer, '');
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
        return;
      }
      const pieces = [];
      answer.on('data', (piece) => pieces.push(piece));
      answer.on('end', () => {
        const body = Buffer.concat(pieces);
        hold(request, answer, body.toString('utf8'));
        response.writeHead(answer.statusCode, answer.headers).end(body);
      });
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  // Sockets are passed through: what goes over them is no answer of HTTP.
  server.on('upgrade', (request, socket, head) => {
    const onward = net.connect(Number(port), hostname, () => {
      const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
      onward.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) one.on('error', () => { socket.destroy(); onward.destroy(); });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const stop = () => { server.closeAllConnections(); return new Promise((done) => server.close(done)); };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}
