// A webhook receiver in Node without packages: checks who sent it, and that nothing was left out.
//   SECRET=<secretKey of /settings> node receiver.mjs [port]
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.SECRET;
// Keep this on disk in earnest: it is what proves that nothing is missing.
const digests = new Map([[0, '0x' + '0'.repeat(64)]]);

function isOurs(headers, body) {
  const age = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']));
  if (!(age < 300)) return false;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', secret).update(signed).digest();
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// The digest covers the one before, the number, and the body as it was first sent.
function isNext(headers, body) {
  const sequence = Number(headers['x-sequence']);
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(sequence));
  const first = body.replace(/,"retries":\d+,/, ',"retries":0,');
  const before = headers['x-previous-digest'];
  const digest = '0x' + createHash('sha256').update(Buffer.from(before.slice(2), 'hex')).update(number).update(first).digest('hex');
  digests.set(sequence, digest);
  const known = digests.get(sequence - 1);
  return digest === headers['x-digest'] && (known === undefined || known === before);
}

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const { headers } = request;
    if (!isOurs(headers, body)) return response.writeHead(401).end();
    // The test call that every create and update makes has no number.
    if (headers['x-sequence'] && !isNext(headers, body)) return response.writeHead(409).end();
    const { block, confirmed, txs, logs } = JSON.parse(body);
    console.log(JSON.stringify({ sequence: Number(headers['x-sequence'] ?? 0), block: block.number, confirmed, txs: txs.length, logs: logs.length }));
    response.writeHead(200).end();
  });
}).listen(Number(process.argv[2] ?? 9090), '127.0.0.1', function () { console.log(`http://127.0.0.1:${this.address().port}`); });
