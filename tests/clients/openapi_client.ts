// Typed by what openapi-typescript made of /openapi.json: a wrong path, parameter or field does not compile.
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const { HEADWATER_URL: baseUrl = '', HEADWATER_KEY: key = '', WALLET: address = '', STREAM: id = '' } = process.env;
const api = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });

type Row = components['schemas']['WalletTransactionLive'];

const wallet = await api.GET('/api/v2.2/{address}', {
  params: { path: { address }, query: { chain: 'demo', limit: 3, to_block: 50, include: 'internal_transactions' }, header: { 'X-Wire-Profile': 'live' } },
});
const rows = (wallet.data?.result ?? []) as Row[];
const wei = rows.reduce((sum: bigint, row: Row) => sum + BigInt(row.value), 0n);

const stream = await api.GET('/streams/evm/{id}', { params: { path: { id } } });
const refused = await api.GET('/streams/evm/{id}', { params: { path: { id: 'nobody' } } });
const made = await api.POST('/admin/v1/keys', { body: { name: 'from TypeScript' } });
const gone = await api.DELETE('/admin/v1/keys/{id}', { params: { path: { id: made.data?.id ?? '' } } });
const called = await api.POST('/{chain}/{key}', { params: { path: { chain: 'demo', key } }, body: { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] } });

console.log(JSON.stringify({
  hashes: rows.map((row) => row.hash), wei: String(wei), status: stream.data?.status, refusal: refused.error?.message, key: made.data?.name, revoked: gone.data?.id === made.data?.id, called: called.data,
}));
