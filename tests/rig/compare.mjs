// Compares headwater's answers with what the scenario's driver signed. Every function throws at the
// first difference and says where it is.
import assert from 'node:assert/strict';
import { rpc, walletRows } from '../support/http.mjs';

/** expected.json, indexed for the questions below. */
export class Book {
  constructor(expected) {
    Object.assign(this, expected);
    this.order = new Map(Object.keys(this.txs).map((hash, at) => [hash, at]));
    this.inside = new Map();
    for (const inner of this.internalTxs) if (inner.value !== '0') this.inside.set(inner.tx, [...(this.inside.get(inner.tx) ?? []), inner]);
    this.cumulative = new Map();
    let block, sum;
    for (const [hash, tx] of Object.entries(this.txs)) {
      if (tx.block !== block) [block, sum] = [tx.block, 0n];
      this.cumulative.set(hash, sum += BigInt(tx.gasUsed));
    }
    this.#index();
  }

  #index() {
    this.direct = new Map();
    this.all = new Map();
    const add = (map, address, hash) => { const list = map.get(address) ?? map.set(address, []).get(address); if (list.at(-1) !== hash) list.push(hash); };
    for (const [hash, tx] of Object.entries(this.txs)) {
      const parties = [tx.from, tx.to, tx.status === 1 ? tx.contractCreated : null].filter(Boolean);
      for (const address of parties) { add(this.direct, address, hash); add(this.all, address, hash); }
      for (const inner of this.inside.get(hash) ?? []) for (const address of [inner.from, inner.to]) add(this.all, address, hash);
    }
    // The driver's own lists of its wallets must say the same.
    for (const [wallet, { txs, internal }] of Object.entries(this.wallets)) {
      assert.deepEqual(this.direct.get(wallet) ?? [], txs);
      const both = new Set([...txs, ...internal.map((at) => this.internalTxs[at].tx)]);
      assert.deepEqual(this.all.get(wallet) ?? [], [...both].sort((a, b) => this.order.get(a) - this.order.get(b)));
    }
  }

  addresses() { return [...new Set([...Object.keys(this.wallets), ...this.all.keys()])]; }
}

const scaled = (wei) => { const [whole, part] = [wei / 10n ** 18n, (wei % 10n ** 18n).toString().padStart(18, '0').replace(/0+$/, '')]; return part ? `${whole}.${part}` : `${whole}`; };

/** One row against the transaction that was signed. */
export function compareRow(book, row, profile) {
  const tx = book.txs[row.hash];
  assert.ok(tx, `${row.hash} is not on the chain`);
  const number = (value) => { assert.equal(typeof value, profile === 'live' ? 'string' : 'bigint'); return BigInt(value); };
  const found = {
    nonce: number(row.nonce), index: number(row.transaction_index), from: row.from_address, to: row.to_address, value: number(row.value), gas: number(row.gas), gasPrice: number(row.gas_price),
    gasUsed: number(row.receipt_gas_used), cumulative: number(row.receipt_cumulative_gas_used), status: number(row.receipt_status), input: row.input, block: number(row.block_number),
    blockHash: row.block_hash, time: row.block_timestamp, fee: number(row.gas_price) * number(row.receipt_gas_used), root: row.receipt_root,
  };
  assert.deepEqual(found, {
    nonce: BigInt(tx.nonce), index: BigInt(tx.index), from: tx.from, to: tx.to, value: BigInt(tx.value), gas: BigInt(tx.gasLimit), gasPrice: BigInt(tx.gasPrice),
    gasUsed: BigInt(tx.gasUsed), cumulative: book.cumulative.get(row.hash), status: BigInt(tx.status), input: tx.input, block: BigInt(tx.block),
    blockHash: tx.blockHash, time: new Date(tx.timestamp * 1000).toISOString(), fee: BigInt(tx.fee), root: null,
  });
  // A creation that failed has an address on some nodes and none on others.
  if (tx.status === 1) assert.equal(row.receipt_contract_address, tx.contractCreated ?? null, row.hash);
  if (profile === 'live') assert.equal(row.transaction_fee, scaled(BigInt(tx.fee)));
}

export const movesValue = (inner) => !('error' in inner) && BigInt(inner.value) > 0n && !['DELEGATECALL', 'CALLCODE', 'STATICCALL'].includes(inner.type);

/** What moved inside a row's transaction, against what the driver meant to move. */
export function compareInside(book, row) {
  const text = (type, { from, to, value }) => `${type} ${from} ${to} ${value}`;
  const found = row.internal_transactions.filter(movesValue).map((inner) => text(inner.type, inner)).sort();
  const meant = (book.inside.get(row.hash) ?? []).map((inner) => text(inner.type.toUpperCase(), inner)).sort();
  assert.deepEqual(found, meant, `inside ${row.hash} (${book.txs[row.hash].kind})`);
  for (const inner of row.internal_transactions) {
    assert.equal(inner.transaction_hash, row.hash);
    assert.equal(BigInt(inner.block_number), BigInt(row.block_number));
    assert.equal(inner.block_hash, row.block_hash);
  }
}

/** Every address of the chain: its rows, its rows with what moved inside, and the exact totals. */
export async function compareAll(headwater, book) {
  const seen = new Set();
  for (const address of book.addresses()) {
    for (const include of [undefined, 'internal_transactions']) {
      const expected = ((include ? book.all : book.direct).get(address) ?? []).toReversed();
      const { rows, total } = await walletRows(headwater, address, { limit: 500, ...(include ? { include } : {}) });
      assert.deepEqual(rows.map((row) => row.hash), expected, `${address} ${include ?? ''}`);
      assert.equal(total, String(expected.length));
      for (const row of rows) {
        seen.add(row.hash);
        compareRow(book, row, 'spec');
        assert.equal('internal_transactions' in row, Boolean(include));
        if (include) compareInside(book, row);
      }
    }
  }
  assert.equal(seen.size, Object.keys(book.txs).length, 'every transaction is somebody\'s');
  for (const reorg of book.reorgs) for (const hash of reorg.dropped) assert.ok(!seen.has(hash) || book.txs[hash], `${hash} was dropped`);
}

/** Pages of several sizes in both orders give the same rows; ranges of blocks and of dates cut them. */
export async function comparePages(headwater, book, wallets) {
  const [low, high] = [Math.floor(book.meta.head / 4), Math.floor((book.meta.head * 3) / 4)];
  const date = (number) => new Date(book.blocks[number].timestamp * 1000).toISOString();
  for (const wallet of wallets) {
    for (const include of [{}, { include: 'internal_transactions' }]) {
      const expected = (include.include ? book.all : book.direct).get(wallet) ?? [];
      for (const limit of [7, 25, 100]) for (const order of ['ASC', 'DESC']) {
        const { rows, total } = await walletRows(headwater, wallet, { limit, order, ...include });
        assert.deepEqual(rows.map((row) => row.hash), order === 'ASC' ? expected : expected.toReversed());
        assert.equal(total, String(expected.length));
      }
      const cut = expected.filter((hash) => book.txs[hash].block >= low && book.txs[hash].block <= high);
      for (const range of [{ from_block: low, to_block: high }, { from_date: date(low), to_date: date(high) }]) {
        const { rows, total } = await walletRows(headwater, wallet, { limit: 9, order: 'ASC', ...range, ...include });
        assert.deepEqual(rows.map((row) => row.hash), cut);
        assert.equal(total, String(cut.length));
      }
    }
    const { rows } = await walletRows(headwater, wallet, { limit: 200, include: 'internal_transactions' }, 'live');
    assert.deepEqual(rows.map((row) => row.hash), (book.all.get(wallet) ?? []).toReversed());
    for (const row of rows) { compareRow(book, row, 'live'); compareInside(book, row); }
  }
}

/** What a wallet has by its rows: what it began with, what they moved, and fees. */
function balanceOf(wallet, rows, began) {
  let balance = began;
  for (const row of rows) {
    if (row.from_address === wallet) balance -= row.gas_price * row.receipt_gas_used;
    const moved = row.receipt_status === 1n ? [{ from: row.from_address, to: row.to_address ?? row.receipt_contract_address, value: row.value }, ...row.internal_transactions.filter(movesValue)] : [];
    for (const { from, to, value } of moved) {
      if (from === wallet) balance -= BigInt(value);
      if (to === wallet) balance += BigInt(value);
    }
  }
  return balance;
}

/** The list explains every wei of every wallet, or says that traces are missing. How many say so. */
export async function compareBalances(headwater, book, began) {
  let untraced = 0;
  for (const [wallet, { native }] of Object.entries(book.wallets)) {
    const { rows, isUntraced } = await walletRows(headwater, wallet, { limit: 500, include: 'internal_transactions' });
    if (isUntraced) untraced++;
    else assert.equal(balanceOf(wallet, rows, began), BigInt(native), `balance of ${wallet}`);
  }
  return untraced;
}

/** Blocks by hash and transactions by place, against the node; and hashes that a reorg took away. */
export async function compareBlocks(headwater, book, nodeUrl, every) {
  const ours = `${headwater.url}/eth/${headwater.key}`, hex = (n) => '0x' + n.toString(16);
  for (const block of book.blocks.filter(({ number }) => number % every === 0 || number === book.meta.head)) {
    const [mine, theirs] = await Promise.all([ours, nodeUrl].map((url) => rpc(url, 'eth_getBlockByHash', [block.hash, true])));
    assert.deepEqual(mine, theirs);
    const hashes = await rpc(ours, 'eth_getBlockByHash', [block.hash, false]);
    assert.deepEqual(hashes, { ...theirs, transactions: theirs.transactions.map((tx) => tx.hash) });
    for (const [index, tx] of theirs.transactions.entries()) assert.deepEqual(await rpc(ours, 'eth_getTransactionByBlockNumberAndIndex', [hex(block.number), hex(index)]), tx);
    assert.equal(await rpc(ours, 'eth_getTransactionByBlockNumberAndIndex', [hex(block.number), hex(theirs.transactions.length)]), null);
  }
  for (const hash of book.reorgs.flatMap((reorg) => reorg.oldHashes)) {
    const [mine, theirs] = await Promise.all([ours, nodeUrl].map((url) => rpc(url, 'eth_getBlockByHash', [hash, false])));
    assert.deepEqual(mine, theirs);
  }
}
