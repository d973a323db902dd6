// What the client tests must find: written by the driver from the sender's book, read by them.
// Amounts are decimal strings, so that every language reads the same.
import fs from 'node:fs';
import { rpc } from '../support/http.mjs';
import { Sender } from './sender.mjs';

const DAY = 86_400;

/** Makes the chain: thirty blocks over several days, some empty, some with many transactions. */
export async function makeChain(nodeUrl) {
  const sender = new Sender(nodeUrl);
  await sender.start();
  await sender.openMarkets();
  for (let block = 0; block < 30; block++) {
    await sender.fill(block % 7 === 3 ? 0 : 1 + sender.random(9));
    for (let sales = block % 4; sales > 0; sales--) await sender.sell();
    await sender.mine(block % 5 === 4 ? DAY : 12);
  }
  return sender;
}

export function write(file, sender, nodeUrl) {
  const wallets = Object.fromEntries(sender.addresses().map((address) => [address, { direct: sender.rows(address, false), all: sender.rows(address, true) }]));
  const busiest = sender.actors.toSorted((a, b) => wallets[b].direct.length - wallets[a].direct.length)[0];
  const blocks = sender.blocks.map(({ transactions, ...block }) => ({ ...block, transactions: transactions.map((tx) => tx.hash) }));
  const trades = Object.fromEntries(sender.collections.map((contract) => [contract, sender.trades(contract)]));
  const plain = (_, value) => (typeof value === 'bigint' ? value.toString() : value);
  fs.writeFileSync(file, JSON.stringify({ node: nodeUrl, busiest, contracts: sender.contracts, wallets, trades, blocks }, plain));
}

export function read() {
  const { HEADWATER_URL: url, HEADWATER_KEY: key, HEADWATER_EXPECTATIONS: file } = process.env;
  if (!url || !key || !file) throw new Error('HEADWATER_URL, HEADWATER_KEY and HEADWATER_EXPECTATIONS are needed; tests/run.mjs sets them');
  return { url, key, ...JSON.parse(fs.readFileSync(file, 'utf8')), ask: rpc };
}

const IN_COIN = ['0x0000000000000000000000000000000000000000', '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'];

/** The lowest price among trades (newest first) that were paid in ETH or WETH from a time on; of equal ones the oldest. */
export function lowest(trades, since = 0) {
  const counted = trades.map(({ row }) => row).filter((row) => IN_COIN.includes(row.price_token_address) && Date.parse(row.block_timestamp) >= since * 1000);
  return counted.reduce((best, row) => (best && BigInt(best.price) < BigInt(row.price) ? best : row), undefined);
}

/** Of an answered row, what the sender knows, in the form of the expectations. */
export function known(row) {
  const text = (value) => (value === null || value === undefined ? null : String(value));
  const number = (value) => (value === null || value === undefined ? null : Number(value));
  return {
    hash: row.hash, nonce: number(row.nonce), transaction_index: number(row.transaction_index), from_address: row.from_address, to_address: row.to_address,
    value: text(row.value), gas: text(row.gas), input: row.input, receipt_contract_address: row.receipt_contract_address, receipt_status: number(row.receipt_status),
    block_number: number(row.block_number), block_hash: row.block_hash, block_timestamp: row.block_timestamp,
    ...(row.internal_transactions ? { internal: row.internal_transactions.map((i) => ({ type: i.type, from: i.from, to: i.to, value: text(i.value), failed: 'error' in i })) } : {}),
  };
}
