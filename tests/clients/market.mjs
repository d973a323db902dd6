// Pools on anvil without a compiler: contracts at the addresses of mainnet that say what they are told
// to, and a token with a name. What a price must be follows from what was told here.
import { Wallet, getCreate2Address, keccak256, solidityPacked, toUtf8Bytes } from 'ethers';
import { rpc } from '../support/http.mjs';
import { word } from '../support/contracts.mjs';

export const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', DAI = '0x6b175474e89094c44da98b954eedeac495271d0f';
export const TOKEN = '0x00000000000000000000000000000000000abcde', BARE = '0x00000000000000000000000000000000000bade1';
export const EXCHANGES = {
  uniswapv2: { name: 'Uniswap v2', factory: '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f', code: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f' },
  sushiswapv2: { name: 'SushiSwap v2', factory: '0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac', code: '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303' },
};
const E18 = 10n ** 18n, E6 = 10n ** 6n, DAY = 86_400;
const topic = (signature) => keccak256(toUtf8Bytes(signature)).slice(2);

// LOG1 and LOG3: the first words of the call are topics, the rest is data.
const LOG1 = '0x602036038060206000376000359060' + '00a100';
const LOG3 = '0x606036038060606000376040356020356000358360' + '00a300';

/** A token's code: three questions, three answers. */
function tokenCode(name, symbol, decimals) {
  const text = (value) => ['20', value.length.toString(16), Buffer.from(value).toString('hex').padEnd(64, '0')];
  const answers = [['313ce567', [decimals.toString(16)]], ['95d89b41', text(symbol)], ['06fdde03', text(name)]];
  const answer = (words) => '5b' + words.map((value, at) => '7f' + value.padStart(64, '0') + '60' + (32 * at).toString(16).padStart(2, '0') + '52').join('') + '60' + (32 * words.length).toString(16).padStart(2, '0') + '6000f3';
  const head = '60003560e01c', refuse = '60006000fd';
  let at = head.length / 2 + answers.length * 11 + refuse.length / 2, jumps = '';
  for (const [selector, words] of answers) {
    jumps += '80' + '63' + selector + '14' + '61' + at.toString(16).padStart(4, '0') + '57';
    at += answer(words).length / 2;
  }
  return '0x' + head + jumps + refuse + answers.map(([, words]) => answer(words)).join('');
}

const sorted = (a, b) => (BigInt(a) < BigInt(b) ? [a, b] : [b, a]);
export function pairOf(exchange, a, b) {
  const { factory, code } = EXCHANGES[exchange];
  return getCreate2Address(factory, keccak256(solidityPacked(['address', 'address'], sorted(a, b))), code).toLowerCase();
}

export class Market {
  #signer = new Wallet('0x' + '5a'.repeat(32));
  #nonce = 0;
  /** block → what the token and the coin were worth after it. */
  history = [];

  constructor(url) { this.url = url; }

  async start() {
    await rpc(this.url, 'anvil_setBalance', [this.#signer.address, '0x' + (1000n * E18).toString(16)]);
    await rpc(this.url, 'anvil_setCode', [TOKEN, tokenCode('Trial Token', 'TRY', 9)]);
    for (const [name, { factory }] of Object.entries(EXCHANGES)) {
      await rpc(this.url, 'anvil_setCode', [factory, LOG3]);
      for (const [a, b] of [[WETH, USDC], [WETH, DAI], [TOKEN, WETH], [TOKEN, USDC]]) await rpc(this.url, 'anvil_setCode', [pairOf(name, a, b), LOG1]);
    }
  }

  async #send(to, data) {
    const raw = await this.#signer.signTransaction({ to, data, nonce: this.#nonce++, gasLimit: 200_000, gasPrice: 3_000_000_000, chainId: 1, type: 0 });
    await rpc(this.url, 'eth_sendRawTransaction', [raw]);
  }

  async create(exchange, a, b) {
    const [low, high] = sorted(a, b);
    await this.#send(EXCHANGES[exchange].factory, '0x' + topic('PairCreated(address,address,address,uint256)') + word(low) + word(high) + word(pairOf(exchange, a, b)) + word(1));
  }

  async sync(exchange, [a, amountA], [b, amountB]) {
    const [low, high] = BigInt(a) < BigInt(b) ? [amountA, amountB] : [amountB, amountA];
    await this.#send(pairOf(exchange, a, b), '0x' + topic('Sync(uint112,uint112)') + word(low) + word(high));
  }

  async mine(seconds) {
    const { timestamp } = await rpc(this.url, 'eth_getBlockByNumber', ['latest', false]);
    await rpc(this.url, 'evm_setNextBlockTimestamp', [Number(timestamp) + seconds]);
    await rpc(this.url, 'evm_mine');
  }
}

/** Three days of prices: the coin stays at 2500 dollars, the token rises from 5 to 7.5 in the last. */
export async function makeMarket(url) {
  const market = new Market(url);
  await market.start();
  for (const [a, b] of [[WETH, USDC], [TOKEN, WETH], [TOKEN, USDC]]) await market.create('uniswapv2', a, b);
  await market.create('sushiswapv2', WETH, DAI);
  await market.create('sushiswapv2', TOKEN, WETH);
  await market.sync('uniswapv2', [WETH, 4_000n * E18], [USDC, 10_000_000n * E6]);
  await market.sync('sushiswapv2', [WETH, 2_000n * E18], [DAI, 5_000_000n * E18]);
  await market.sync('uniswapv2', [TOKEN, 1_000_000n * 10n ** 9n], [WETH, 2_000n * E18]);
  await market.sync('sushiswapv2', [TOKEN, 300_000n * 10n ** 9n], [WETH, 606n * E18]);
  await market.mine(12);
  for (let n = 0; n < 4; n++) await market.mine(n === 2 ? 2 * DAY : 12);
  const before = 5;
  await market.sync('uniswapv2', [TOKEN, 900_000n * 10n ** 9n], [WETH, 2_700n * E18]);
  await market.sync('sushiswapv2', [TOKEN, 250_000n * 10n ** 9n], [WETH, 750n * E18]);
  await market.mine(12);
  await market.mine(12);
  return { before, head: 7, token: TOKEN, coin: WETH, stable: USDC };
}
