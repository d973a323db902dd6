// Plain calls to a node and to headwater's data host, without any client library in between.

let id = 0;
export async function rpc(url, method, params = []) {
  const response = await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
  });
  const answer = await response.json();
  if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error).slice(0, 400)}`);
  return answer.result;
}

/** Many calls in one request; the answers in the order of the calls. */
export async function rpcAll(url, calls) {
  const body = calls.map(([method, params], at) => ({ jsonrpc: '2.0', id: at, method, params }));
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const answers = new Map((await response.json()).map((answer) => [answer.id, answer]));
  return calls.map(([method], at) => {
    const answer = answers.get(at);
    if (!answer || answer.error) throw new Error(`${method}: ${JSON.stringify(answer?.error).slice(0, 400)}`);
    return answer.result;
  });
}

/** JSON whose large integers stay exact: they become BigInt, like every other integer. */
export function parseExact(text) {
  const quoted = text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, string) => string ?? (/^-?\d+$/.test(all) ? `"\\u0000${all}"` : all));
  return JSON.parse(quoted, (_, value) => (typeof value === 'string' && value.startsWith('\u0000') ? BigInt(value.slice(1)) : value));
}

/** An answer of the data host: its status, headers and exact JSON. */
export async function ask(headwater, path, query = {}, profile = 'spec') {
  const url = new URL(`${headwater.url}/api/v2.2/${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const response = await fetch(url, { headers: { 'x-api-key': headwater.key, 'x-wire-profile': profile } });
  return { status: response.status, headers: response.headers, body: parseExact(await response.text()) };
}

/** All trades of an NFT contract, page after page. */
export async function tradeRows(headwater, contract, query = {}, profile = 'spec') {
  const rows = [];
  for (let number = 0, cursor; ; number++) {
    const { status, body } = await ask(headwater, `nft/${contract}/trades`, cursor ? { ...query, cursor } : query, profile);
    if (status !== 200) throw new Error(`${status} ${body.message} for the trades of ${contract}`);
    if (BigInt(body.page) !== BigInt(number)) throw new Error(`page ${number} calls itself ${body.page}`);
    rows.push(...body.result);
    cursor = body.cursor;
    if (!cursor) return rows;
  }
}

/** One page of a wallet in the profile of the interface's tables. */
export async function walletPage(headwater, address, query = {}, profile = 'spec') {
  const url = new URL(`${headwater.url}/api/v2.2/${address}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const response = await fetch(url, { headers: { 'x-api-key': headwater.key, 'x-wire-profile': profile } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text} for ${url.search}`);
  const page = parseExact(text);
  page.headers = response.headers;
  return page;
}

/** All rows of a wallet, page after page, and whether a page says that traces are missing; also checks what each page says of itself. */
export async function walletRows(headwater, address, query = {}, profile = 'spec') {
  const rows = [];
  let total, isUntraced = false;
  for (let number = 0, cursor; ; number++) {
    const page = await walletPage(headwater, address, cursor ? { ...query, cursor } : query, profile);
    if (BigInt(page.page) !== BigInt(number)) throw new Error(`page ${number} calls itself ${page.page}`);
    if (query.limit && page.result.length > query.limit) throw new Error(`${page.result.length} rows on a page of ${query.limit}`);
    if (total !== undefined && page.total !== total) throw new Error(`total went from ${total} to ${page.total}`);
    total = page.total;
    rows.push(...page.result);
    cursor = page.cursor;
    isUntraced ||= page.headers.get('x-traces') === 'missing';
    if (!cursor) return { rows, total, isUntraced };
  }
}
