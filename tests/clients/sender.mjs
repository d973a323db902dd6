// Sends transactions to anvil and keeps a book of what it sent: who, to whom, how much, in which
// block, and what moves inside. What a wallet's answer must be follows from the book alone; of the
// node it only takes block hashes, and it checks that the node mined what was sent.
import { Wallet, getCreate2Address, getCreateAddress, keccak256 } from 'ethers';
import { privateKeyToAccount } from 'viem/accounts';
import { rpc } from '../support/http.mjs';
import { CHILD_INITCODE, HEIR, MAKER, NFT, REVERTER, SPLITTER, TRIER, initcode, words } from '../support/contracts.mjs';
import { MARKETS, NATIVE, USDC, WETH } from './markets.mjs';

const lower = (text) => text.toLowerCase();
const ETHER = 10n ** 18n, GWEI = 10n ** 9n;

export class Sender {
  /** Blocks in order; each a list of transactions in order. Block 0 is empty. */
  blocks = [{ transactions: [] }];
  pending = [];
  contracts = {};
  #random = 7;
  #sold = 0;

  constructor(url, actors = 6) {
    this.url = url;
    this.keys = new Map();
    for (let i = 0; i < actors; i++) {
      const key = '0x' + (0xabc000 + i).toString(16).padStart(64, '0');
      this.keys.set(lower(new Wallet(key).address), { key, ethers: new Wallet(key), viem: privateKeyToAccount(key) });
    }
    this.actors = [...this.keys.keys()];
  }

  async start() {
    const genesis = await rpc(this.url, 'eth_getBlockByNumber', ['0x0', false]);
    Object.assign(this.blocks[0], { number: 0, hash: genesis.hash, timestamp: Number(genesis.timestamp) });
    for (const actor of this.actors) await rpc(this.url, 'anvil_setBalance', [actor, '0x' + (100_000n * ETHER).toString(16)]);
    for (const [name, runtime] of Object.entries({ splitter: SPLITTER, reverter: REVERTER, trier: TRIER, heir: HEIR, maker: MAKER })) {
      this.contracts[name] = (await this.send({ from: this.actors[0], data: initcode(runtime) })).created;
    }
    await this.mine();
  }

  /** A small generator of its own, so that every run sends the same. */
  random(below) {
    this.#random = (Math.imul(this.#random, 1103515245) + 12345) & 0x7fffffff;
    return (this.#random >>> 8) % below;
  }
  actor() { return this.actors[this.random(this.actors.length)]; }
  stranger() { return lower(new Wallet(keccak256('0x' + (this.random(1 << 20) + 1).toString(16).padStart(8, '0'))).address); }

  #sent() { return [...this.blocks.flatMap((block) => block.transactions), ...this.pending]; }
  #nonce(from) { return this.#sent().filter((tx) => tx.from === from).length; }
  /** A contract's nonce starts at 1 and counts its creations that stood. */
  #creations(maker) { return this.#sent().filter((tx) => tx.status === 1).flatMap((tx) => tx.internal).filter((i) => i.from === maker && i.type.startsWith('CREATE')).length; }

  async sign({ from, to = null, value = 0n, data = '0x', fail = false, internal = [], gas = 500_000n, legacy = false }) {
    const nonce = this.#nonce(from), signer = this.keys.get(from);
    const fees = legacy ? { gasPrice: 20n * GWEI } : { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: GWEI };
    // Odd nonces are signed by ethers, even ones by viem.
    const raw = nonce % 2
      ? await signer.ethers.signTransaction({ chainId: 1, nonce, to, value, data, gasLimit: gas, type: legacy ? 0 : 2, ...fees })
      : await signer.viem.signTransaction({ chainId: 1, nonce, to: to ?? undefined, value, data, gas, type: legacy ? 'legacy' : 'eip1559', ...fees });
    const created = to ? null : lower(getCreateAddress({ from, nonce }));
    return { hash: keccak256(raw), raw, from, to, value, nonce, data, gas, created, status: fail ? 0 : 1, internal };
  }

  async send(what) {
    const tx = await this.sign(what);
    const hash = await rpc(this.url, 'eth_sendRawTransaction', [tx.raw]);
    if (hash !== tx.hash) throw new Error(`the node calls ${tx.hash} ${hash}`);
    this.pending.push(tx);
    return tx;
  }

  /** One transaction of one of nine kinds, with what moves inside it. */
  plan(kind = this.random(9)) {
    const from = this.actor(), value = BigInt(1 + this.random(1000)) * 2n * 10n ** 15n, half = value / 2n, a = this.actor(), b = this.stranger();
    const { splitter, reverter, trier, heir, maker } = this.contracts;
    const inside = (type, from, to, value, failed = false) => ({ type, from, to, value, failed });
    switch (kind) {
      case 0: return { from, to: a, value, legacy: true };
      case 1: return { from, to: b, value };
      case 2: return { from, to: from, value };
      case 3: return { from, data: initcode(SPLITTER), value: 0n };
      case 4: return { from, to: splitter, value, data: words(a, b), internal: [inside('CALL', splitter, a, half), inside('CALL', splitter, b, half)] };
      case 5: return { from, to: trier, value, data: words(reverter, a), internal: [inside('CALL', trier, reverter, half, true), inside('CALL', reverter, a, half, true), inside('CALL', trier, a, half)] };
      case 6: return { from, to: reverter, value, data: words(b), fail: true, internal: [inside('CALL', reverter, b, value, true)] };
      case 7: return { from, to: heir, value, data: words(b), internal: [inside('SELFDESTRUCT', heir, b, value)] };
      default: {
        const salt = '0x' + (this.#sent().length + 1).toString(16).padStart(64, '0');
        const first = lower(getCreateAddress({ from: maker, nonce: 1 + this.#creations(maker) }));
        const second = lower(getCreate2Address(maker, salt, keccak256(CHILD_INITCODE)));
        return { from, to: maker, value, data: words(salt), internal: [inside('CREATE', maker, first, half), inside('CREATE2', maker, second, half)] };
      }
    }
  }

  async fill(count) { for (let i = 0; i < count; i++) await this.send(this.plan()); }

  /** Puts exchanges where Ethereum has them, and makes NFT contracts whose tokens they sell. */
  async openMarkets(collections = 2) {
    this.collections = [];
    for (let i = 0; i < collections; i++) this.collections.push((await this.send({ from: this.actors[0], data: initcode(NFT) })).created);
    for (const { exchange, code } of Object.values(MARKETS)) await rpc(this.url, 'anvil_setCode', [exchange, '0x' + code]);
    await this.mine();
  }

  /** A sale of one token, by the next of the markets, mostly for native coin. */
  async sell() {
    const number = this.#sold++, names = Object.keys(MARKETS), market = names[this.random(names.length)], { exchange, event } = MARKETS[market];
    const contract = this.collections[this.random(4) ? 0 : 1], buyer = this.actor(), seller = this.actors.filter((actor) => actor !== buyer)[this.random(this.actors.length - 1)];
    const id = this.random(10_000), currency = [NATIVE, NATIVE, NATIVE, WETH, USDC][number % 5], price = BigInt(1 + this.random(500)) * 10n ** 15n;
    const value = currency === NATIVE ? price : 0n;
    const { topics, data } = event({ contract, id, seller, buyer, currency, price });
    const padded = [...topics, ...Array(3 - topics.length).fill(0)];
    const inside = [{ type: 'CALL', from: exchange, to: seller, value, failed: false }, { type: 'CALL', from: exchange, to: contract, value: 0n, failed: false }];
    const tx = await this.send({ from: buyer, to: exchange, value, data: words(contract, seller, buyer, id, ...padded) + data, internal: inside });
    tx.sale = { market, contract, id, seller, buyer, exchange, currency, price };
  }

  /** What the answers about an NFT contract must list, newest first. */
  trades(contract) {
    return this.blocks.flatMap((block) => block.transactions.map((tx, index) => ({ tx, index, block }))).filter(({ tx }) => tx.sale?.contract === contract).map(({ tx, index, block }) => ({
      market: tx.sale.market,
      row: {
        transaction_hash: tx.hash, transaction_index: String(index), token_ids: [String(tx.sale.id)], seller_address: tx.sale.seller, buyer_address: tx.sale.buyer, token_address: contract,
        marketplace_address: tx.sale.exchange, price_token_address: tx.sale.currency, price: tx.sale.price, block_timestamp: new Date(block.timestamp * 1000).toISOString(),
        block_number: String(block.number), block_hash: block.hash, verified_collection: false,
      },
    })).reverse();
  }

  async mine(seconds = 12) {
    const timestamp = this.blocks.at(-1).timestamp + seconds;
    await rpc(this.url, 'evm_mine', [timestamp]);
    await this.#enter(this.blocks.length, this.pending);
    this.pending = [];
  }

  /** Takes a mined block into the book; the node must have mined exactly what was sent. */
  async #enter(number, transactions) {
    const block = await rpc(this.url, 'eth_getBlockByNumber', ['0x' + number.toString(16), false]);
    const sent = new Map(transactions.map((tx) => [tx.hash, tx]));
    if (block.transactions.length !== sent.size || !block.transactions.every((hash) => sent.has(hash))) {
      throw new Error(`block ${number}: mined ${block.transactions}, sent ${[...sent.keys()]}`);
    }
    this.blocks[number] = { number, hash: block.hash, timestamp: Number(block.timestamp), transactions: block.transactions.map((hash) => sent.get(hash)) };
  }

  /** Replaces the newest `depth` blocks: some of the dropped transactions are sent again, some new ones come in. Returns those that are gone. */
  async reorg(depth) {
    const dropped = this.blocks.splice(this.blocks.length - depth).flatMap((block) => block.transactions);
    const first = this.blocks.length, pairs = [];
    this.pending = [];
    for (let i = 0; i < depth; i++) {
      const fresh = [];
      // A dropped transaction fits again while its sender's nonce is next, but not if it was to make a contract that is another one now.
      if (i === 0) for (const old of dropped) if (old.nonce === this.#nonce(old.from) && !old.internal.some((x) => x.type === 'CREATE') && this.random(3)) { fresh.push(old); this.pending.push(old); }
      for (let n = this.random(3); n > 0; n--) { const tx = await this.sign(this.plan()); fresh.push(tx); this.pending.push(tx); }
      pairs.push(...fresh.map((tx) => [tx.raw, i]));
      this.blocks[first + i] = { number: first + i, transactions: fresh };
      this.pending = [];
    }
    await rpc(this.url, 'anvil_reorg', [depth, pairs]);
    for (let i = 0; i < depth; i++) await this.#enter(first + i, this.blocks[first + i].transactions);
    const alive = new Set(this.#sent().map((tx) => tx.hash));
    return dropped.filter((tx) => !alive.has(tx.hash));
  }

  /** The newest `depth` blocks vanish and nothing comes in their place. */
  async rollback(depth) {
    const dropped = this.blocks.splice(this.blocks.length - depth).flatMap((block) => block.transactions);
    await rpc(this.url, 'anvil_rollback', [depth]);
    return dropped;
  }

  /** Every address that a transaction or a movement inside one names. */
  addresses() {
    const named = new Set(this.actors);
    for (const tx of this.#sent()) for (const address of [tx.from, tx.to, tx.created, ...tx.internal.flatMap((i) => [i.from, i.to])]) if (address) named.add(address);
    return [...named];
  }

  /** What a wallet's answer must list, newest first. */
  rows(address, withInternal) {
    const direct = (tx) => tx.from === address || tx.to === address || (tx.created === address && tx.status === 1);
    const inside = (tx) => tx.internal.some((i) => !i.failed && i.value > 0n && (i.from === address || i.to === address));
    return this.blocks.flatMap((block) => block.transactions.map((tx, index) => ({
      hash: tx.hash, nonce: tx.nonce, transaction_index: index, from_address: tx.from, to_address: tx.to, value: tx.value, gas: tx.gas, input: tx.data,
      receipt_contract_address: tx.created, receipt_status: tx.status, block_number: block.number, block_hash: block.hash, block_timestamp: new Date(block.timestamp * 1000).toISOString(),
      internal: tx.internal, listed: direct(tx) || (withInternal && inside(tx)),
    }))).filter((row) => row.listed).map(({ listed, ...row }) => row).reverse();
  }
}
