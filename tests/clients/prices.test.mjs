// The official JS SDK asks what tokens cost; and both wire profiles say the same.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import Moralis from 'moralis';
import { BARE, EXCHANGES, TOKEN, USDC, WETH, pairOf } from './market.mjs';

const { HEADWATER_URL: url, HEADWATER_KEY: key } = process.env;
const ask = (request) => Moralis.EvmApi.token.getTokenPrice({ address: TOKEN, chain: '0x1', ...request });
const raw = async (address, query, profile) => {
  const response = await fetch(`${url}/api/v2.2/erc20/${address}/price?${new URLSearchParams(query)}`, { headers: { 'x-api-key': key, 'x-wire-profile': profile } });
  return { status: response.status, body: await response.json(), headers: response.headers };
};

describe('moralis (JS) getTokenPrice', () => {
  before(() => Moralis.start({ apiKey: key, evmApiBaseUrl: `${url}/api/v2.2` }));

  it('tells the price with the token\'s own name', async () => {
    const answer = await ask({});
    const [json, { result, raw: body }] = [answer.toJSON(), answer];
    assert.equal(result.usdPrice, 7.5);
    assert.equal(json.usdPrice, 7.5);
    assert.equal(json.usdPriceFormatted, '7.5');
    assert.equal(json.tokenName, 'Trial Token');
    assert.equal(json.tokenSymbol, 'TRY');
    assert.equal(json.tokenDecimals, '9');
    assert.equal(json.exchangeName, 'Uniswap v2');
    assert.equal(json.exchangeAddress.toLowerCase(), EXCHANGES.uniswapv2.factory);
    assert.equal(json.tokenAddress.toLowerCase(), TOKEN);
    assert.equal(json.pairAddress.toLowerCase(), pairOf('uniswapv2', TOKEN, WETH));
    assert.equal(json.pairTotalLiquidityUsd, '13500000.00');
    assert.equal(body.nativePrice.value, '3000000000000000');
    // The SDK takes the value for whole coins and scales it by our decimals, as it does with the live service.
    assert.equal(result.nativePrice.wei, String(3_000_000_000_000_000n * 10n ** 18n));
    assert.equal(body.nativePrice.address, WETH);
  });

  it('takes every parameter at once', async () => {
    const { raw: body } = await ask({ exchange: 'uniswapv2', toBlock: 7, include: 'percent_change' });
    assert.equal(body['24hrPercentChange'], '50');
    assert.equal(body.usdPrice24h, 5);
    assert.equal(body.toBlock, '7');
    const { raw: other } = await ask({ exchange: 'sushiswapv2', toBlock: 5 });
    assert.equal(other.usdPriceFormatted, '5.05');
    assert.equal(other.exchangeName, 'SushiSwap v2');
    const { raw: byFactory } = await ask({ exchange: EXCHANGES.sushiswapv2.factory, toBlock: 5 });
    assert.equal(byFactory.usdPriceFormatted, '5.05');
  });

  it('tells older prices', async () => {
    for (const toBlock of [1, 2, 5]) assert.equal((await ask({ toBlock })).raw.usdPriceFormatted, '5');
    assert.equal((await ask({ toBlock: 6 })).raw.usdPriceFormatted, '7.5');
    assert.equal((await ask({ toBlock: 99 })).raw.toBlock, '7', 'past the newest block it is that of the newest');
  });

  it('prices the wrapped coin and a stable', async () => {
    assert.equal((await ask({ address: WETH })).raw.usdPriceFormatted, '2500');
    assert.equal((await ask({ address: USDC })).raw.usdPriceFormatted, '1');
  });

  it('tells what is wrong with a request', async () => {
    await assert.rejects(ask({ address: BARE }), /404.*is not a token/s);
    await assert.rejects(ask({ toBlock: 0 }), /404/);
    await assert.rejects(ask({ exchange: 'quickswap' }), /400.*not on eth/s);
    await assert.rejects(ask({ chain: '0xaa36a7' }), /400.*not offered/s);
  });

  it('says the same in both profiles, and why', async () => {
    const query = { chain: 'eth', include: 'percent_change', explain: 'true', min_pair_side_liquidity_usd: '10', max_token_inactivity: '30' };
    const [spec, live] = [await raw(TOKEN, query, 'spec'), await raw(TOKEN, query, 'live')];
    for (const name of Object.keys(spec.body).filter((name) => name !== 'explain')) assert.deepEqual(live.body[name], spec.body[name], name);
    assert.equal(spec.body.explain.poolsAgreeing, 2);
    assert.equal(spec.body.explain.changedAtBlock, 6);
    assert.equal('pairAddress' in spec.body, false);
    assert.equal(spec.headers.get('x-request-weight'), '55');
    assert.equal(spec.headers.get('x-indexed-blocks'), '0-7');
    const plain = await raw(TOKEN, {}, 'spec');
    assert.deepEqual(Object.keys(plain.body).sort(), ['exchangeAddress', 'exchangeName', 'nativePrice', 'toBlock', 'tokenAddress', 'tokenDecimals', 'tokenLogo', 'tokenName', 'tokenSymbol', 'usdPrice', 'usdPriceFormatted']);
  });
});
