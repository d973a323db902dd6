// A chain, a server that follows it and a receiver, for tests of what streams deliver. What a payload must say is made of
// what was signed and logged here; of the node it takes gas, block hashes and the gas of inner calls.
import assert from 'node:assert/strict';
import { EvmStreamResult } from '@moralisweb3/common-streams-utils';
import { Transaction, formatUnits } from 'ethers';
import { initcode } from '../support/contracts.mjs';
import { rpc, rpcAll } from '../support/http.mjs';
import { settled, startAnvil, startHeadwater, stop } from '../support/processes.mjs';
import { STREAMS_ENV, startReceiver, until } from '../support/receiver.mjs';
import { Sender } from './sender.mjs';
import { logCall, tokenCode } from './tokens.mjs';

/** As many blocks on top of a block of Ethereum make it confirmed. */
export const CONFIRMATIONS = 12;
const GWEI = 10n ** 9n;
const text = (quantity) => BigInt(quantity).toString();
/** JSON in which a BigInt is a bare number of any size. */
const exactJson = (body) => JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? `\u0001${value}\u0001` : value)).replace(/"\\u0001(-?\d+)\\u0001"/g, '$1');
/** An address that nothing but a test would name. */
let strangers = 0n;
export const stranger = () => '0x' + (0xfeed000000000000000000000000000000000000n + (++strangers << 64n) + 0xabcdefn).toString(16);

export class StreamWorld {
  streams = [];
  tokens = new Map();

  static async start(name, { env = {}, actors = 12 } = {}) {
    const world = new StreamWorld();
    world.anvil = await startAnvil(`${name}-node`);
    world.sender = new Sender(world.anvil.url, actors);
    await world.sender.start();
    world.start = (more) => startHeadwater(name, [world.anvil.url], { env: { ...STREAMS_ENV, ...env }, ...more });
    world.headwater = await world.start();
    world.receiver = await startReceiver();
    await world.settled();
    return world;
  }

  async stop() { await this.headwater?.stop(); await this.receiver?.stop(); await this.anvil?.stop(); }
  /** As if the power went. */
  kill() { return stop(this.headwater.child, 'SIGKILL'); }
  async restart() { this.headwater = await this.start({ data: this.headwater.data }); }
  settled() { return settled(this.headwater, this.anvil.url); }

  async ask(method, path, body) {
    const response = await fetch(this.headwater.url + path, { method, headers: { 'x-api-key': this.headwater.key, 'content-type': 'application/json' }, body: body && exactJson(body) });
    const answer = await response.json();
    assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** A stream of its own path, with addresses; `told` are the bodies that it must have sent, unconfirmed. */
  async stream(path, options, addresses = []) {
    const made = await this.ask('PUT', '/streams/evm', { webhookUrl: this.receiver.url + path, description: path, tag: `tag of ${path}`, chainIds: ['0x1'], ...options });
    const stream = { path, id: made.id, tag: made.tag, abi: options.abi ?? [], told: [] };
    if (addresses.length) stream.fromBlock = (await this.ask('POST', `/streams/evm/${made.id}/address`, { address: addresses })).fromBlock['0x1'];
    this.streams.push(stream);
    return stream;
  }

  /** Waits until all blocks so far were matched: an address that is added now counts from the next one on. */
  async matched() {
    this.probes ??= [await this.stream('/probe/plain', { includeNativeTxs: true }), await this.stream('/probe/traces', { includeInternalTxs: true })];
    const next = this.sender.blocks.length, address = stranger();
    for (const { id } of this.probes) await until(`block ${next}`, async () => (await this.ask('POST', `/streams/evm/${id}/address`, { address })).fromBlock['0x1'] === next);
  }

  /** Contracts with names, mined at once. */
  async deploy(...codes) {
    const sent = [];
    for (const code of codes) sent.push(await this.sender.send({ from: this.sender.actors[0], data: initcode(typeof code === 'string' ? code : tokenCode(code)), gas: 3_000_000n }));
    await this.mine();
    await this.matched();
    sent.forEach((tx, at) => this.tokens.set(tx.created, codes[at]));
    return sent.map((tx) => tx.created);
  }

  /** A transaction that makes `contract` log an event, and hold a value at a slot. */
  async log(contract, event, { from = this.sender.actors[0], slot = 0n, value = 0n } = {}) {
    const tx = await this.sender.send({ from, to: contract, data: logCall(event, slot, value) });
    tx.logs = [{ ...event, contract }];
    return tx;
  }

  /** Mines what was sent; afterwards transactions and their logs know their places. */
  async mine() {
    await this.sender.mine();
    const block = this.sender.blocks.at(-1);
    await this.place(block);
    return block;
  }

  async place(block) {
    const number = '0x' + block.number.toString(16);
    const [header, receipts] = await rpcAll(this.anvil.url, [['eth_getBlockByNumber', [number, false]], ['eth_getBlockReceipts', [number]]]);
    let logs = 0;
    block.transactions.forEach((tx, index) => {
      const { gasUsed, cumulativeGasUsed } = receipts[index];
      Object.assign(tx, { index, gasUsed: text(gasUsed), cumulativeGasUsed: text(cumulativeGasUsed), baseFee: BigInt(header.baseFeePerGas) });
      for (const log of tx.logs ?? []) Object.assign(log, { index: logs++, tx });
    });
  }

  /** The first word of a block, when it comes. */
  async unconfirmed(stream, block) {
    const found = await until(`block ${block.number} at ${stream.path}`, () => this.receiver.of(stream.path).find(({ body }) => body.block.hash === block.hash && !body.confirmed));
    return found.body;
  }

  /** Compares it word for word, and notes that it must be confirmed as it is. */
  async delivered(stream, block, items) {
    const body = await this.unconfirmed(stream, block);
    stream.told.push(body);
    assert.deepEqual({ at: stream.path, ...plain(body) }, { at: stream.path, ...plain(this.body(stream, block, items)) });
    return body;
  }

  /** Every stream sent what it must, no more: each block unconfirmed, then confirmed. */
  async allConfirmed() {
    for (let i = 0; i < CONFIRMATIONS; i++) await this.sender.mine();
    await this.settled();
    for (const stream of this.streams) {
      const count = 2 * stream.told.length;
      await until(`${count} deliveries at ${stream.path}`, () => this.receiver.of(stream.path).length >= count);
      const bodies = this.receiver.of(stream.path).toSorted((a, b) => a.headers['x-sequence'] - b.headers['x-sequence']);
      assert.deepEqual(bodies.map(({ headers }) => Number(headers['x-sequence'])), Array.from({ length: count }, (_, at) => at + 1), stream.path);
      for (const { body } of bodies) assert.equal(EvmStreamResult.create(body).streamId, stream.id, 'the official SDK reads it');
      for (const confirmed of [false, true]) {
        assert.deepEqual(bodies.map(({ body }) => body).filter((body) => body.confirmed === confirmed), stream.told.map((body) => ({ ...body, confirmed })), stream.path);
      }
      assert.equal((await this.ask('GET', `/streams/evm/${stream.id}/deliveries?limit=100`)).result.length, count, `${stream.path}: what is recorded is what was sent`);
    }
  }

  /**
   * A payload. `txs` are [transaction, triggered by, answers], `logs` are [log, triggered by, answers, answers of the item
   * made of it], `internals` are [transaction, [from, to, value], triggered by].
   */
  body(stream, block, { txs = [], logs = [], internals = [], nativeBalances = [] }) {
    const made = (names, form) => logs.filter(([log]) => names.includes(log.name)).flatMap((entry) => this[form](...entry));
    return {
      confirmed: false, chainId: '0x1', abi: stream.abi, streamId: stream.id, tag: stream.tag, retries: 0,
      block: { number: String(block.number), hash: block.hash, timestamp: String(block.timestamp) },
      logs: logs.map((entry) => logItem(...entry)), txs: txs.map((entry) => txItem(...entry)), txsInternal: internals.map(([tx, moved, by]) => internalItem(tx, moved, by)),
      erc20Transfers: made(['erc20Transfer'], 'erc20Item'), erc20Approvals: made(['erc20Approval'], 'erc20Item'),
      nftTokenApprovals: made(['erc721Approval', 'approvalForAll'], 'nftTokenApproval'),
      nftApprovals: { ERC721: made(['erc721Approval'], 'nftApproval'), ERC1155: made(['approvalForAll'], 'nftApproval') },
      nftTransfers: made(['erc721Transfer', 'single', 'batch'], 'nftTransfers'), nativeBalances,
    };
  }

  #origin(log, by) { return { transactionHash: log.tx.hash, logIndex: String(log.index), contract: log.contract, triggered_by: by, possibleSpam: false }; }
  #names(log) { const { name, symbol } = this.tokens.get(log.contract); return { tokenName: name, tokenSymbol: symbol }; }

  erc20Item(log, by, _, answers) {
    const { decimals } = this.tokens.get(log.contract), { value, ...parties } = log.args;
    return [{ ...this.#origin(log, by), ...parties, value: String(value), ...this.#names(log), tokenDecimals: String(decimals), valueWithDecimals: log.scaled ?? formatUnits(value, decimals).replace(/\.0$/, ''), ...triggers(answers) }];
  }

  nftTransfers(log, by, _, answers) {
    const { operator = null, from, to, tokenId, id, value, ids, values } = log.args;
    const amounts = ids?.map((one, at) => [one, values[at]]) ?? [[tokenId ?? id, value ?? 1n]];
    return amounts.map(([one, amount]) => ({
      ...this.#origin(log, by), operator, from, to, tokenId: String(one), amount: String(amount), ...this.#names(log), tokenContractType: tokenId === undefined ? 'ERC1155' : 'ERC721', ...triggers(answers),
    }));
  }

  nftTokenApproval(log, by) {
    const { owner, account = owner, operator, approved, tokenId } = log.args, isOne = tokenId !== undefined;
    const told = isOne ? { account, operator: approved, approvedAll: false, tokenId: String(tokenId) } : { account, operator, approvedAll: approved, tokenId: null };
    return [{ ...this.#origin(log, by), ...told, ...this.#names(log), tokenContractType: isOne ? 'ERC721' : 'ERC1155' }];
  }

  nftApproval(log, by) {
    const { tokenId, ...told } = log.args, isOne = tokenId !== undefined;
    return [{ ...this.#origin(log, by), ...told, ...(isOne ? { tokenId: String(tokenId) } : {}), ...this.#names(log), tokenContractType: isOne ? 'ERC721' : 'ERC1155' }];
  }

  /** Calls inside a transaction that moved coin and stood, as the node traced them: [from, to, value, gas]. */
  async moved(tx) {
    const top = await rpc(this.anvil.url, 'debug_traceTransaction', [tx.hash, { tracer: 'callTracer' }]);
    const inner = (frame) => (frame.error ? [] : (frame.calls ?? []).flatMap((call) => (call.error ? [] : [call, ...inner(call)])));
    tx.moved = inner(top).filter((call) => BigInt(call.value ?? 0) > 0n && call.type !== 'DELEGATECALL').map((call) => [call.from, call.to, text(call.value), text(call.gas)]);
    assert.deepEqual(tx.moved.map((row) => row.slice(0, 3)), tx.internal.filter((row) => !row.failed && row.value > 0n).map((row) => [row.from, row.to, String(row.value)]), 'the node traced what was meant');
    return tx.moved;
  }
}

const triggers = (answers) => (answers ? { triggers: answers } : {});

export function txItem(tx, by, answers) {
  const { type, gasPrice, maxFeePerGas, maxPriorityFeePerGas, signature } = Transaction.from(tx.raw);
  const offered = tx.baseFee + (maxPriorityFeePerGas ?? GWEI), paid = type === 0 ? gasPrice : offered < maxFeePerGas ? offered : maxFeePerGas;
  return {
    hash: tx.hash, gas: String(tx.gas), gasPrice: String(paid), nonce: String(tx.nonce), input: tx.data, transactionIndex: String(tx.index), fromAddress: tx.from, toAddress: tx.to, value: String(tx.value), type: String(type),
    v: String(type === 0 ? signature.networkV : signature.yParity), r: text(signature.r), s: text(signature.s),
    receiptCumulativeGasUsed: tx.cumulativeGasUsed, receiptGasUsed: tx.gasUsed, receiptContractAddress: tx.created, receiptRoot: null, receiptStatus: String(tx.status), triggered_by: by, ...triggers(answers),
  };
}

export function logItem(log, by, answers) {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  return { logIndex: String(log.index), transactionHash: log.tx.hash, address: log.contract, data: log.data, topic0, topic1, topic2, topic3, triggered_by: by, ...triggers(answers) };
}

const internalItem = (tx, [from, to, value, gas], by) => ({ from, to, value, gas, transactionHash: tx.hash, triggered_by: by });

/** In no order are the addresses by which an item came; hex and its case are the payload's. */
export const plain = (value) => {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, key === 'triggered_by' ? inner.toSorted() : plain(inner)]));
};
