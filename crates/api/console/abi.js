// Events of an ABI, by the text that names them.

/** `Transfer(address,address,uint256)`; a tuple is written as its parts. */
export function signature(item) {
  const kind = (input) => (input.type.startsWith('tuple') ? `(${(input.components ?? []).map(kind).join(',')})${input.type.slice(5)}` : input.type);
  return `${item.name}(${(item.inputs ?? []).map(kind).join(',')})`;
}

/** The events of a pasted ABI: a list, one item, or what compilers write around one. */
export function eventsOf(text) {
  let json;
  try { json = JSON.parse(text); } catch (error) { throw new Error(`This is not JSON: ${error.message}`); }
  const list = Array.isArray(json) ? json : json?.abi ?? [json];
  if (!Array.isArray(list)) throw new Error('This is no ABI: a list of items is expected.');
  const events = list.filter((item) => item?.type === 'event' && typeof item.name === 'string');
  if (!events.length) throw new Error('This ABI has no events.');
  return events.map((item) => ({ item, signature: signature(item) }));
}

const input = (name, type, indexed = false) => ({ name, type, indexed });
const event = (name, ...inputs) => ({ type: 'event', name, anonymous: false, inputs });
export const KNOWN_EVENTS = [
  ['Transfer of a token (ERC20)', event('Transfer', input('from', 'address', true), input('to', 'address', true), input('value', 'uint256'))],
  ['Transfer of an NFT (ERC721)', event('Transfer', input('from', 'address', true), input('to', 'address', true), input('tokenId', 'uint256', true))],
  ['Approval (ERC20)', event('Approval', input('owner', 'address', true), input('spender', 'address', true), input('value', 'uint256'))],
  ['Transfer of one of many (ERC1155)', event('TransferSingle', input('operator', 'address', true), input('from', 'address', true), input('to', 'address', true), input('id', 'uint256'), input('value', 'uint256'))],
  ['Swap (Uniswap v2)', event('Swap', input('sender', 'address', true), input('amount0In', 'uint256'), input('amount1In', 'uint256'), input('amount0Out', 'uint256'), input('amount1Out', 'uint256'), input('to', 'address', true))],
  ['Swap (Uniswap v3)', event('Swap', input('sender', 'address', true), input('recipient', 'address', true), input('amount0', 'int256'), input('amount1', 'int256'), input('sqrtPriceX96', 'uint160'), input('liquidity', 'uint128'), input('tick', 'int24'))],
];
