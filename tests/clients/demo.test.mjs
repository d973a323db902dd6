// The official JS SDK on `headwater demo --as eth`, unchanged but for the address it talks to: every operation that it has finds
// something there. The chain lives meanwhile, so what is compared lies deep enough.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import axios from 'axios';
import { JsonRpcProvider } from 'ethers';
import Moralis from 'moralis';
import { startConforming } from '../support/conforming.mjs';
import { startDemo } from '../support/processes.mjs';
import { until } from '../support/receiver.mjs';

const DEEP = 250, chain = '0x1';
let demo, between;
axios.interceptors.request.use((config) => ({ ...config, url: config.url.replace('https://api.moralis-streams.com', between.url) }));
const plain = async (path) => (await fetch(`${demo.url}/api/v2.2/${path}`, { headers: { 'x-api-key': demo.key, 'x-wire-profile': 'live' } })).json();

before(async () => {
  demo = await startDemo(['--as', 'eth']);
  between = await startConforming(demo.url);
  const { secretKey } = await (await fetch(`${demo.url}/settings`, { headers: { 'x-api-key': demo.key } })).json();
  await Moralis.start({ apiKey: demo.key, evmApiBaseUrl: `${between.url}/api/v2.2`, streamsSecret: secretKey });
});
after(async () => { await between?.stop(); await demo?.stop(); });

describe('moralis (JS) on the demo', () => {
  it('reads a wallet page by page, and what moved inside', async () => {
    let page = await Moralis.EvmApi.transaction.getWalletTransactions({ chain, address: demo.exchange, toBlock: DEEP, limit: 100 });
    const rows = [...page.result];
    while (page.hasNext()) { page = await page.next(); rows.push(...page.result); }
    const { total } = await (await fetch(`${demo.url}/api/v2.2/${demo.exchange}?chain=eth&to_block=${DEEP}&limit=1`, { headers: { 'x-api-key': demo.key } })).json();
    assert.ok(rows.length > 500);
    assert.equal(rows.length, Number(total));
    const inner = await Moralis.EvmApi.transaction.getWalletTransactions({ chain, address: demo.inner, toBlock: DEEP, include: 'internal_transactions', limit: 5 });
    assert.ok(inner.result.length === 5 && inner.result.every((row) => row.internalTransactions.some(({ to }) => to.lowercase === demo.inner)));
  });

  it('finds trades of the collection, and the lowest price among them', async () => {
    const { result } = await Moralis.EvmApi.nft.getNFTTrades({ chain, address: demo.nft, toBlock: DEEP, limit: 100 });
    assert.equal(result.length, 100);
    const lowest = await Moralis.EvmApi.nft.getNFTLowestPrice({ chain, address: demo.nft, days: 7 });
    const cheaper = result.filter(({ price }) => BigInt(price.wei) < BigInt(lowest.raw.price));
    assert.deepEqual(cheaper, []);
  });

  it('prices tokens in coins and dollars, by several pools, now and a day ago', async () => {
    const { raw } = await Moralis.EvmApi.token.getTokenPrice({ chain, address: demo.token, include: 'percent_change' });
    assert.deepEqual([raw.tokenName, raw.tokenSymbol, raw.tokenDecimals], ['River', 'RVR', '18']);
    assert.ok(raw.usdPrice > 1 && raw.usdPrice < 3, raw.usdPriceFormatted);
    assert.ok(BigInt(raw.nativePrice.value) > 10n ** 14n && BigInt(raw.nativePrice.value) < 10n ** 16n, raw.nativePrice.value);
    assert.notEqual(Number(raw['24hrPercentChange']), 0);
    assert.deepEqual([...new Set(raw.explain.pools.map((pool) => pool.exchangeName))].sort(), ['SushiSwap v2', 'Uniswap v2', 'Uniswap v3']);
    const then = await Moralis.EvmApi.token.getTokenPrice({ chain, address: demo.token, toBlock: DEEP });
    assert.equal(then.raw.usdPriceFormatted, (await plain(`erc20/${demo.token}/price?chain=eth&to_block=${DEEP}`)).usdPriceFormatted);
  });

  it('lists the stream, updates it, and sees what it delivered', async () => {
    const { raw } = await Moralis.Streams.getAll({ limit: 10 });
    assert.deepEqual(raw.result.map(({ id }) => id), [demo.stream]);
    const updated = await Moralis.Streams.update({ id: demo.stream, tag: 'changed', networkType: 'evm' });
    assert.equal(updated.raw.tag, 'changed');
    const { totalWebhooksDelivered, totalWebhooksFailed } = (await Moralis.Streams.getStatsById({ streamId: demo.stream })).raw;
    assert.ok(totalWebhooksDelivered > 0);
    assert.equal(totalWebhooksFailed, 0);
    // It goes on with the chain.
    await until('another delivery', async () => (await Moralis.Streams.getStatsById({ streamId: demo.stream })).raw.totalWebhooksDelivered > totalWebhooksDelivered);
  });

  it('ethers reads blocks, and pools as the price explains them', async () => {
    const provider = new JsonRpcProvider(`${between.url}/eth/${demo.key}`);
    const block = await provider.getBlock(DEEP, true);
    assert.equal((await provider.getBlock(block.hash)).number, DEEP);
    const { explain } = await plain(`erc20/${demo.token}/price?chain=eth&to_block=${DEEP}&exchange=uniswapv2`);
    const [{ pool, state }] = explain.pools;
    const reserves = await provider.call({ to: pool, data: '0x0902f1ac', blockTag: DEEP });
    assert.deepEqual([reserves.slice(2, 66), reserves.slice(66, 130)].map((word) => BigInt(`0x${word}`).toString()), [state.reserve0, state.reserve1]);
    provider.destroy();
  });
});
