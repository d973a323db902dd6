// Exchanges as Ethereum has them, and the events in which they tell of a sale: encoded by ethers from
// their signatures, so that nothing here rests on how headwater reads them.
import { AbiCoder, id as keccak, zeroPadValue } from 'ethers';
import { MARKET_1, MARKET_3 } from '../support/contracts.mjs';

export const NATIVE = '0x0000000000000000000000000000000000000000';
export const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
export const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';

const encode = (types, values) => AbiCoder.defaultAbiCoder().encode(types, values).slice(2);
const orderHash = ({ contract, id, price }) => keccak(`${contract} ${id} ${price}`);

const SPENT = '(uint8,address,uint256,uint256)[]', RECEIVED = '(uint8,address,uint256,uint256,address)[]';
function fulfilled(sale) {
  const paid = [sale.currency === NATIVE ? 0 : 1, sale.currency, 0, sale.price, sale.seller];
  return {
    topics: [keccak(`OrderFulfilled(bytes32,address,address,address,${SPENT},${RECEIVED})`), zeroPadValue(sale.seller, 32), 0],
    data: encode(['bytes32', 'address', SPENT, RECEIVED], [orderHash(sale), sale.buyer, [[2, sale.contract, sale.id, 1]], [paid]]),
  };
}

const TAKER_BID = ['(bytes32,uint256,bool)', 'address', 'address', 'uint256', 'address', 'address', 'uint256[]', 'uint256[]', 'address[2]', 'uint256[3]'];
function takerBid(sale) {
  const values = [[orderHash(sale), 0, true], sale.buyer, sale.buyer, 0, sale.currency, sale.contract, [sale.id], [1], [sale.seller, NATIVE], [sale.price, 0, 0]];
  return { topics: [keccak(`TakerBid(${TAKER_BID})`)], data: encode(TAKER_BID, values) };
}

export const MARKETS = {
  opensea: { exchange: '0x00000000000000adc04c56bf30ac9d3c0aaf14dc', code: MARKET_3, event: fulfilled },
  looksrare: { exchange: '0x0000000000e655fae4d56241588680f86e3b2377', code: MARKET_1, event: takerBid },
};
