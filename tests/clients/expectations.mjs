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
  for (let block = 0; block < 30; block++) {
    await sender.fill(block % 7 === 3 ? 0 : 1 + sender.random(9));
    await sender.mine(block % 5 === 4 ? DAY : 12);
  }
  return sender;
}

export function write(file, sender, nodeUrl) {
  const wallets = Object.fromEntries(sender.addresses().map((address) => [address, { direct: sender.rows(address, false), all: sender.rows(address, true) }]));
  const busiest = sender.actors.toSorted((a, b) => wallets[b].direct.length - wallets[a].direct.length)[0];
  const blocks = sender.blocks.map(({ transactions, ...block }) => ({ ...block, transactions: transactions.map((tx) => tx.hash) }));
  const plain = (_, value) => (typeof value === 'bigint' ? value.toString() : value);
  fs.writeFileSync(file, JSON.stringify({ node: nodeUrl, busiest, contracts: sender.contracts, wallets, blocks }, plain));
}

export function read() {
  const { HEADWATER_URL: url, HEADWATER_KEY: key, HEADWATER_EXPECTATIONS: file } = process.env;
  if (!url || !key || !file) throw new Error('HEADWATER_URL, HEADWATER_KEY and HEADWATER_EXPECTATIONS are needed; tests/run.mjs sets them');
  return { url, key, ...JSON.parse(fs.readFileSync(file, 'utf8')), ask: rpc };
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
