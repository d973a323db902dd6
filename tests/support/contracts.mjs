// Five tiny contracts, written in opcodes so that no compiler is needed. Each moves value in one way
// that a trace must show. Arguments are plain 32-byte words.

const OPCODES = {
  STOP: '00', DIV: '04', CALLVALUE: '34', CALLDATALOAD: '35', CODECOPY: '39', POP: '50', MSTORE: '52', MSTORE8: '53',
  GAS: '5a', CREATE: 'f0', CALL: 'f1', RETURN: 'f3', CREATE2: 'f5', REVERT: 'fd', SELFDESTRUCT: 'ff',
};

/** Words of assembly to hex; a number is pushed as one byte. */
const assemble = (source) => source.trim().split(/\s+/).map((word) => OPCODES[word] ?? '60' + Number(word).toString(16).padStart(2, '0')).join('');

/** Code that puts `runtime` at the new address. */
export const initcode = (runtime) => {
  const bytes = runtime.length / 2;
  return '0x' + assemble(`${bytes} 12 0 CODECOPY ${bytes} 0 RETURN`) + runtime;
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

export const word = (value) => BigInt(value).toString(16).padStart(64, '0');
export const words = (...values) => '0x' + values.map(word).join('');
