// Uniswap's own contracts, v2 and v3, on anvil at their addresses of mainnet, and a trader that mints, swaps
// and burns at random. A block's actions follow from a seed, so a run can be had again.
import { createRequire } from 'node:module';
import { Interface, Wallet, getCreate2Address, keccak256, solidityPacked, AbiCoder } from 'ethers';
import { rpc, rpcAll } from '../support/http.mjs';
import { TRADER, word } from '../support/contracts.mjs';
import { heldAt } from '../support/pools.mjs';
import { USDC, WETH } from './market.mjs';
import { rootAt } from './ticks.mjs';

const load = createRequire(import.meta.url);
const v2 = (name) => load(`@uniswap/v2-core/build/${name}.json`), v3 = (name) => load(`@uniswap/v3-core/artifacts/contracts/${name}.sol/${name}.json`);
const code = { erc20: v2('ERC20').bytecode, v2: v2('UniswapV2Factory').bytecode, v3: v3('UniswapV3Factory').bytecode };
const V2_FACTORY = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f', V3_FACTORY = '0x1f98431c8ad98523631ae4a59f267346ea31f984';
const FACE = { erc20: new Interface(v2('ERC20').abi), v2Factory: new Interface(v2('UniswapV2Factory').abi), pair: new Interface(v2('UniswapV2Pair').abi), v3Factory: new Interface(v3('UniswapV3Factory').abi), pool: new Interface(v3('UniswapV3Pool').abi) };

const TRADER_AT = '0x00000000000000000000000000000000007ade12';
/** One sorts below the coin and one above it, so prices are read both ways. */
export const TOKENS = ['0x0000000000000000000000000000000000a11ce5', '0xf00000000000000000000000000000000000b0b5'];
const SPACING = { 500: 10, 3000: 60, 10000: 200 };
const E18 = 10n ** 18n, SUPPLY = 10n ** 32n;
/** Further than this from one to one no price is pushed. */
const TICK_MAX = 6000;

const sorted = (a, b) => (BigInt(a) < BigInt(b) ? [a, b] : [b, a]);
const encode = (types, values) => AbiCoder.defaultAbiCoder().encode(types, values);
const pairAt = (a, b) => getCreate2Address(V2_FACTORY, keccak256(solidityPacked(['address', 'address'], sorted(a, b))), keccak256('0x' + v2('UniswapV2Pair').bytecode.replace(/^0x/, ''))).toLowerCase();
const poolAt = (a, b, fee) => getCreate2Address(V3_FACTORY, keccak256(encode(['address', 'address', 'uint24'], [...sorted(a, b), fee])), keccak256(v3('UniswapV3Pool').bytecode)).toLowerCase();

export class Uniswap {
  #signer = new Wallet('0x' + '6b'.repeat(32));
  #state;
  /** What must come back when blocks are replaced: the trader's next nonce and its positions, after each block. */
  #book = new Map();
  nonce = 0;
  positions = [];
  /** Kinds of actions by transaction, to see afterwards which of them went through. */
  kinds = new Map();

  constructor(url, seed) {
    this.url = url;
    this.#state = seed >>> 0;
    this.pools = TOKENS.flatMap((token) => {
      const [token0, token1] = sorted(token, WETH);
      const ranged = Object.entries(SPACING).map(([fee, spacing]) => ({ kind: 'v3', label: `v3 ${token.slice(0, 4)} ${fee}`, addr: poolAt(token, WETH, fee), token0, token1, fee: Number(fee), spacing }));
      return [{ kind: 'v2', label: `v2 ${token.slice(0, 4)}`, addr: pairAt(token, WETH), token0, token1 }, ...ranged];
    });
    this.money = { kind: 'v2', label: 'v2 money', addr: pairAt(USDC, WETH), token0: sorted(USDC, WETH)[0], token1: sorted(USDC, WETH)[1] };
  }

  random(below) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }
  #pick(list) { return list[this.random(list.length)]; }
  #amount(most) { return (most * BigInt(1 + this.random(1 << 30))) >> 30n; }

  /** Runs a constructor where mainnet has its contract, so that what it stores and what it fixes is right. */
  async #install(address, initcode) {
    await rpc(this.url, 'anvil_setCode', [address, initcode]);
    const runtime = await rpc(this.url, 'eth_call', [{ from: this.#signer.address, to: address, gas: '0x1c9c380' }, 'latest']);
    await this.#send([{ to: address, data: '0x', kind: 'setup' }]);
    await this.#mine();
    await rpc(this.url, 'anvil_setCode', [address, runtime]);
  }

  async start() {
    await rpc(this.url, 'anvil_setBalance', [this.#signer.address, '0x' + (10_000n * E18).toString(16)]);
    await rpc(this.url, 'anvil_setCode', [TRADER_AT, '0x' + TRADER]);
    const hex = (bytecode) => '0x' + bytecode.replace(/^0x/, '');
    await this.#install(V2_FACTORY, hex(code.v2) + word(this.#signer.address));
    await this.#install(V3_FACTORY, hex(code.v3));
    for (const token of [WETH, USDC, ...TOKENS]) {
      await this.#install(token, hex(code.erc20) + word(SUPPLY));
      await this.#send([{ to: token, data: FACE.erc20.encodeFunctionData('transfer', [TRADER_AT, SUPPLY]), kind: 'setup' }]);
    }
    await this.#mine();
    for (const pool of [...this.pools, this.money]) await this.#send(this.#open(pool).map((call) => ({ ...call, kind: 'setup' })));
    await this.#mine();
    this.opened = await this.head();
  }

  async head() { return Number(await rpc(this.url, 'eth_blockNumber')); }

  #open({ kind, addr, token0, token1, fee }) {
    if (kind === 'v3') {
      return [
        { to: V3_FACTORY, data: FACE.v3Factory.encodeFunctionData('createPool', [token0, token1, fee]) },
        { to: addr, data: FACE.pool.encodeFunctionData('initialize', [rootAt(this.random(2001) - 1000) + BigInt(this.random(1000))]) },
      ];
    }
    const created = { to: V2_FACTORY, data: FACE.v2Factory.encodeFunctionData('createPair', [token0, token1]) };
    const amounts = addr === this.money.addr ? [3_000_000n * 10n ** 6n, 1_000n * E18] : [this.#amount(10_000n * E18) + E18, this.#amount(10_000n * E18) + E18];
    return [created, ...this.#paid(addr, [token0, token1], amounts), this.#byTrader(addr, FACE.pair.encodeFunctionData('mint', [TRADER_AT]))];
  }

  #byTrader(to, data) { return { to: TRADER_AT, data: '0x' + word(to) + data.slice(2) }; }
  #paid(to, tokens, amounts) { return tokens.map((token, at) => this.#byTrader(token, FACE.erc20.encodeFunctionData('transfer', [to, amounts[at]]))); }

  /** One action on one pool, as calls in order. `held` may be a little old: what fails for that changes nothing. */
  #action(pool, held, quiet) {
    const [kind, calls] = pool.kind === 'v2' ? this.#onPair(pool, held) : this.#onPool(pool, held, quiet);
    return calls.map((call, at) => ({ ...call, kind: pool.kind === 'v2' && at < calls.length - 1 ? 'payment' : `${pool.kind} ${kind}` }));
  }

  #onPair({ addr, token0, token1 }, { reserve0, reserve1, shares }) {
    const reserves = [BigInt(reserve0), BigInt(reserve1)], tokens = [token0, token1], pair = (name, args) => this.#byTrader(addr, FACE.pair.encodeFunctionData(name, args));
    switch (this.random(5)) {
      case 0: return ['mint', [...this.#paid(addr, tokens, reserves.map((reserve) => this.#amount(reserve / 3n) + 2000n)), pair('mint', [TRADER_AT])]];
      case 1: return ['burn', [...this.#paid(addr, [addr], [this.#amount(shares / 3n)]), pair('burn', [TRADER_AT])]];
      case 2: return ['sync', [...this.#paid(addr, [this.#pick(tokens)], [this.#amount(reserves[0] / 50n)]), pair('sync', [])]];
      default: {
        const into = this.random(2), paid = this.#amount(reserves[into] / 20n), out = (paid * 9n * reserves[1 - into]) / (reserves[into] * 10n + paid * 10n);
        return ['swap', [...this.#paid(addr, [tokens[into]], [paid]), pair('swap', [into === 1 ? out : 0n, into === 0 ? out : 0n, TRADER_AT, '0x'])]];
      }
    }
  }

  #onPool(pool, { tick, sqrtPriceX96 }, quiet) {
    const { addr, token0, token1, spacing } = pool, payment = encode(['address', 'address'], [token0, token1]);
    const own = this.positions.filter((position) => position.addr === addr && position.liquidity > 0n), inside = own.filter(({ lower, upper }) => lower <= tick && tick < upper);
    const call = (name, args) => this.#byTrader(addr, FACE.pool.encodeFunctionData(name, args));
    const burn = (position, liquidity) => { position.liquidity -= liquidity; return call('burn', [position.lower, position.upper, liquidity]); };
    const swap = (kind, limit, amount) => {
      const down = limit < BigInt(sqrtPriceX96);
      return [kind, [call('swap', [TRADER_AT, down, amount, limit, payment])]];
    };
    const elsewhere = () => Math.max(-TICK_MAX, Math.min(TICK_MAX, tick + this.random(1601) - 800));
    const kind = own.length ? this.random(quiet ? 8 : 12) : 0;
    if (kind <= 3) {
      const [lower, upper] = this.#range(tick, spacing), liquidity = this.#amount(10n ** BigInt(18 + this.random(6))) + 1n;
      const known = this.positions.find((position) => position.addr === addr && position.lower === lower && position.upper === upper);
      if (known) known.liquidity += liquidity; else this.positions.push({ addr, lower, upper, liquidity });
      return [lower <= tick && tick < upper ? 'mint around the price' : 'mint aside', [call('mint', [TRADER_AT, lower, upper, liquidity, payment])]];
    }
    // All that is at the price goes: nothing is in range then, and the price stands where it stood.
    if (kind === 4 && inside.length) return ['burn of all in range', inside.map((position) => burn(position, position.liquidity))];
    if (kind <= 7) {
      const position = this.#pick(own), liquidity = [position.liquidity, this.#amount(position.liquidity), this.#amount(position.liquidity), 0n][this.random(4)];
      return ['burn', [burn(position, liquidity)]];
    }
    // To the very edge of a position: the price is there and the tick on one side of it, depending on where it came from.
    if (kind === 8) { const position = this.#pick(own); return swap('swap to an edge', rootAt(this.random(2) ? position.lower : position.upper), 10n ** 30n); }
    if (kind === 9) return swap('swap far', rootAt(this.random(2 * TICK_MAX + 1) - TICK_MAX), 10n ** 30n);
    return swap('swap', rootAt(elsewhere()), this.random(2) ? this.#amount(10n ** 22n) : -this.#amount(10n ** 22n));
  }

  /** Around the price, beside it, and with an edge exactly at it. */
  #range(tick, spacing) {
    const at = Math.floor(tick / spacing), wide = () => 1 + this.random(Math.floor(1500 / spacing) + 1), far = this.random(Math.floor(600 / spacing) + 1);
    const [lower, upper] = [[at - wide() + 1, at + wide()], [at + 1 + far, at + 1 + far + wide()], [at - far - wide(), at - far], [at, at + wide()], [at - wide(), at]][this.random(5)];
    return [lower * spacing, upper * spacing];
  }

  /** What the actions of one block are to do, after what is held at `block`. */
  async plan(block) {
    const held = await heldAt(this.url, this.pools, block), pairs = this.pools.filter(({ kind }) => kind === 'v2');
    const shares = await rpcAll(this.url, pairs.map(({ addr }) => ['eth_call', [{ to: addr, data: FACE.erc20.encodeFunctionData('balanceOf', [TRADER_AT]) }, '0x' + block.toString(16)]]));
    pairs.forEach(({ addr }, at) => { held.get(addr).shares = BigInt(shares[at]); });
    // In a quiet block no price of a ranged pool moves, so the store is not told a whole state by a swap.
    const calls = [], quiet = this.random(5) < 2;
    for (let n = this.random(12); n > 0; n--) {
      const pool = this.#pick(this.pools);
      // Several in a row on one pool: what they do together is one row in the store.
      for (let times = 1 + this.random(3); times > 0; times--) calls.push(...this.#action(pool, held.get(pool.addr), quiet));
    }
    return calls;
  }

  async #sign({ to, data, kind }) {
    const raw = await this.#signer.signTransaction({ to, data, nonce: this.nonce++, gasLimit: kind === 'setup' ? 12_000_000 : 900_000, gasPrice: 3_000_000_000, chainId: 1, type: 0 });
    this.kinds.set(keccak256(raw), kind);
    return raw;
  }

  async #send(calls) { for (const call of calls) await rpc(this.url, 'eth_sendRawTransaction', [await this.#sign(call)]); }

  #keep(block) { this.#book.set(block, { nonce: this.nonce, positions: structuredClone(this.positions) }); }
  async #mine() { await rpc(this.url, 'evm_mine'); this.#keep(await this.head()); }

  /** A block of random actions. */
  async block() {
    await this.#send(await this.plan(await this.head()));
    await this.#mine();
  }

  /** Replaces the newest `depth` blocks by others. */
  async reorg(depth) {
    const fork = await this.head() - depth, pairs = [];
    ({ nonce: this.nonce, positions: this.positions } = structuredClone(this.#book.get(fork)));
    for (let n = 0; n < depth; n++) {
      for (const call of await this.plan(fork)) pairs.push([await this.#sign(call), n]);
      this.#keep(fork + 1 + n);
    }
    await rpc(this.url, 'anvil_reorg', [depth, pairs]);
  }

  /** Takes the newest `depth` blocks away; others come later. */
  async rollback(depth) {
    await rpc(this.url, 'anvil_rollback', [depth]);
    ({ nonce: this.nonce, positions: this.positions } = structuredClone(this.#book.get(await this.head())));
  }

  /** How often each kind of action went through on the chain as it is now, and how often it failed. */
  async done() {
    const counts = {};
    for (let block = this.opened + 1; block <= await this.head(); block++) {
      for (const { transactionHash, status } of await rpc(this.url, 'eth_getBlockReceipts', ['0x' + block.toString(16)])) {
        const count = counts[this.kinds.get(transactionHash)] ??= { done: 0, failed: 0 };
        count[status === '0x1' ? 'done' : 'failed']++;
      }
    }
    return counts;
  }
}
