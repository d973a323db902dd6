// Tiny contracts, written in opcodes so that no compiler is needed. Each of the first five moves value
// in one way that a trace must show; the last two sell NFTs. Arguments are plain 32-byte words.

const OPCODES = {
  STOP: '00', ADD: '01', MUL: '02', SUB: '03', DIV: '04', LT: '10', SGT: '13', EQ: '14', ISZERO: '15', SHR: '1c', ORIGIN: '32', CALLER: '33', CALLVALUE: '34', CALLDATALOAD: '35', CALLDATASIZE: '36', CALLDATACOPY: '37', CODECOPY: '39',
  NUMBER: '43', POP: '50', MLOAD: '51', MSTORE: '52', MSTORE8: '53', SLOAD: '54', SSTORE: '55', JUMP: '56', JUMPI: '57', GAS: '5a', JUMPDEST: '5b', DUP1: '80', DUP2: '81', DUP3: '82', DUP4: '83', DUP5: '84', DUP6: '85',
  LOG0: 'a0', LOG1: 'a1', LOG2: 'a2', LOG3: 'a3', LOG4: 'a4', CREATE: 'f0', CALL: 'f1', RETURN: 'f3', CREATE2: 'f5', REVERT: 'fd', SELFDESTRUCT: 'ff',
};

/** Words of assembly to hex. A number is pushed as one byte, hex with all of its bytes; `name:` is a place to jump to, `@name` pushes it. */
const push = (word) => (word.startsWith('0x') ? (0x5e + word.length / 2).toString(16) + word.slice(2) : '60' + Number(word).toString(16).padStart(2, '0'));
export function assemble(source) {
  const words = source.trim().split(/\s+/), places = new Map();
  const code = (word) => (word.endsWith(':') ? OPCODES.JUMPDEST : word.startsWith('@') ? '61' + (places.get(word.slice(1)) ?? 0).toString(16).padStart(4, '0') : OPCODES[word] ?? push(word));
  let at = 0;
  for (const word of words) {
    if (word.endsWith(':')) places.set(word.slice(0, -1), at);
    at += code(word).length / 2;
  }
  return words.map(code).join('');
}

/** Code that puts `runtime` at the new address. */
export const initcode = (runtime) => {
  const bytes = runtime.length / 2, size = bytes < 256 ? String(bytes) : '0x' + bytes.toString(16).padStart(4, '0');
  return '0x' + assemble(`${size} ${bytes < 256 ? 12 : 14} 0 CODECOPY ${size} 0 RETURN`) + runtime;
};

const HALF = '2 CALLVALUE DIV';
const send = (value, argument) => `0 0 0 0 ${value} ${argument} CALLDATALOAD GAS CALL POP`;

/** splitter(a, b): half of the value to each. */
export const SPLITTER = assemble(`${send(HALF, 0)} ${send(HALF, 32)} STOP`);

/** reverter(a): passes its value on to `a`, then reverts, which undoes it. */
export const REVERTER = assemble(`${send('CALLVALUE', 0)} 0 0 REVERT`);

/** trier(reverter, a): half to the reverter, which fails; the other half to `a`. */
export const TRIER = assemble(`32 CALLDATALOAD 0 MSTORE 0 0 32 0 ${HALF} 0 CALLDATALOAD GAS CALL POP ${send(HALF, 32)} STOP`);

/** heir(a): leaves all it has to `a`. */
export const HEIR = assemble('0 CALLDATALOAD SELFDESTRUCT');

// A contract whose code is one zero byte: PUSH1 1 PUSH1 0 RETURN, five bytes at the end of a word.
export const CHILD_INITCODE = '0x' + assemble('1 0 RETURN');
const child = [...Buffer.from(CHILD_INITCODE.slice(2), 'hex')].map((byte, at) => `${byte} ${at} MSTORE8`).join(' ');

/** maker(salt): a child by CREATE with half of the value, another by CREATE2 with the other half. */
export const MAKER = assemble(`${child} 5 0 ${HALF} CREATE POP 0 CALLDATALOAD 5 0 ${HALF} CREATE2 POP STOP`);

/** nft(from, to, id): says that the token moved. */
export const NFT = assemble('64 CALLDATALOAD 32 CALLDATALOAD 0 CALLDATALOAD 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef 0 0 LOG4 STOP');

// market(nft, seller, buyer, id, topic, topic, topic, data…): passes its value on to the seller, logs the
// event it was given, has the token moved. The exchanges differ in how many topics their events have.
const market = (log) => assemble(`${send('CALLVALUE', 32)} 224 CALLDATASIZE SUB 224 0 CALLDATACOPY ${log} 96 32 0 CALLDATACOPY 0 0 96 0 0 0 CALLDATALOAD GAS CALL POP STOP`);
export const MARKET_1 = market('128 CALLDATALOAD 224 CALLDATASIZE SUB 0 LOG1');
export const MARKET_3 = market('192 CALLDATALOAD 160 CALLDATALOAD 128 CALLDATALOAD 224 CALLDATASIZE SUB 0 LOG3');

// trader(contract, call…): a person's call is passed on; a pool that calls back is paid what it asks for, in
// the tokens that its call's data names. A payment of nothing does no harm, so nothing is asked before it.
const pay = (amount, token) => `0xa9059cbb${'0'.repeat(56)} 0 MSTORE CALLER 4 MSTORE 0 ${amount} CALLDATALOAD SGT ${amount} CALLDATALOAD MUL 36 MSTORE 0 0 68 0 0 ${token} CALLDATALOAD GAS CALL POP`;
const TRADER_PARTS = [`${pay(4, 132)} ${pay(36, 164)} STOP`, 'JUMPDEST 32 CALLDATASIZE SUB 32 0 CALLDATACOPY 0 0 32 CALLDATASIZE SUB 0 0 0 CALLDATALOAD GAS CALL ISZERO'].map(assemble);
const [PASS_ON, GIVE_UP] = [6 + TRADER_PARTS[0].length / 2, 6 + (TRADER_PARTS[0] + TRADER_PARTS[1]).length / 2 + 4];
export const TRADER = assemble(`ORIGIN CALLER EQ ${PASS_ON} JUMPI`) + TRADER_PARTS.join('') + assemble(`${GIVE_UP} JUMPI STOP JUMPDEST 0 0 REVERT`);

export const word = (value) => BigInt(value).toString(16).padStart(64, '0');
export const words = (...values) => '0x' + values.map(word).join('');
