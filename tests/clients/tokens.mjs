// Tokens for streams, in opcodes: a contract that has a name, logs the event it is told and remembers one number, so that
// what it answers to a call depends on the block; and one that makes several calls in one transaction.
import { Interface } from 'ethers';
import { assemble, word } from '../support/contracts.mjs';

/** Every event that tokens have, and some that are nobody's standard. ERC20 and ERC721 differ only in what is indexed. */
export const EVENTS = {
  erc20Transfer: 'event Transfer(address indexed from, address indexed to, uint256 value)',
  erc20Approval: 'event Approval(address indexed owner, address indexed spender, uint256 value)',
  erc721Transfer: 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  erc721Approval: 'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  approvalForAll: 'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
  single: 'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  batch: 'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  noted: 'event Noted(bytes32 indexed key, address who, uint256 amount)',
  moved: 'event Moved(address indexed who, uint256 amount, int256 change, bool good, string note)',
  movedIndexed: 'event Moved(address indexed who, uint256 indexed amount, int256 change, bool good, string note)',
};
const interfaces = Object.fromEntries(Object.entries(EVENTS).map(([name, text]) => [name, new Interface([text])]));
/** The event as a stream's `abi` has it, and as its `topic0` names it. */
export const abiOf = (name) => JSON.parse(interfaces[name].formatJson())[0];
export const signatureOf = (name) => interfaces[name].fragments[0].format('sighash');
export const topicOf = (name) => interfaces[name].fragments[0].topicHash;

/** What a contract logs when it is told so: topics and data, with the arguments they were made of. */
export function event(name, ...args) {
  const [fragment] = interfaces[name].fragments, { topics, data } = interfaces[name].encodeEventLog(fragment, args);
  return { name, args: Object.fromEntries(fragment.inputs.map((input, at) => [input.name, args[at]])), topics, data };
}

/** Calls of the contract below: log `what`, and hold `value` at `slot`. The selector is the number of topics. */
export const logCall = (what, slot = 0n, value = 0n) => '0x' + what.topics.length.toString(16).padStart(8, '0') + word(slot) + word(value) + what.topics.map(word).join('') + what.data.slice(2);

const VIEWS = new Interface(['function name() view returns (string)', 'function symbol() view returns (string)', 'function decimals() view returns (uint8)', 'function balanceOf(address) view returns (uint256)', 'function ownerOf(uint256) view returns (address)',
  'function whoAsks() view returns (address)', 'function atBlock() view returns (uint256)', 'function refuse() view returns (uint256)', 'error Error(string)']);
/** A function as a trigger's `functionAbi`. */
export const functionAbi = (name, output = '') => { const item = JSON.parse(VIEWS.formatJson()).find((one) => one.name === name); return { ...item, outputs: item.outputs.map((one) => ({ ...one, name: output })) }; };
export const REFUSAL = 'not today';

const answer = (data, how = 'RETURN') => {
  const hex = data.slice(2), parts = hex.match(/.{1,64}/g);
  return parts.map((part, at) => `0x${part.padEnd(64, '0')} 0x${(32 * at).toString(16).padStart(4, '0')} MSTORE`).join(' ') + ` 0x${(hex.length / 2).toString(16).padStart(4, '0')} 0 ${how}`;
};
const HELD = '4 CALLDATALOAD SLOAD 0 MSTORE 32 0 RETURN';
const log = (topics) => {
  const from = 68 + 32 * topics, words = Array.from({ length: topics }, (_, at) => `${68 + 32 * (topics - 1 - at)} CALLDATALOAD`).join(' ');
  return `36 CALLDATALOAD 4 CALLDATALOAD SSTORE ${from} CALLDATASIZE SUB ${from} 0 CALLDATACOPY ${words} ${from} CALLDATASIZE SUB 0 LOG${topics} STOP`;
};

/** A token's code. Without `decimals` it does not know them, as NFTs do not. */
export function tokenCode({ name, symbol, decimals }) {
  const does = {
    [VIEWS.getFunction('name').selector]: answer(VIEWS.encodeFunctionResult('name', [name])), [VIEWS.getFunction('symbol').selector]: answer(VIEWS.encodeFunctionResult('symbol', [symbol])),
    ...(decimals === undefined ? {} : { [VIEWS.getFunction('decimals').selector]: answer(VIEWS.encodeFunctionResult('decimals', [decimals])) }),
    [VIEWS.getFunction('balanceOf').selector]: HELD, [VIEWS.getFunction('ownerOf').selector]: HELD, [VIEWS.getFunction('whoAsks').selector]: 'CALLER 0 MSTORE 32 0 RETURN',
    [VIEWS.getFunction('atBlock').selector]: 'NUMBER 0 MSTORE 32 0 RETURN',
    ...Object.fromEntries([0, 1, 2, 3, 4].map((topics) => ['0x' + topics.toString(16).padStart(8, '0'), log(topics)])),
  };
  const selectors = Object.keys(does);
  const jumps = selectors.map((selector, at) => `DUP1 ${selector} EQ @do${at} JUMPI`).join(' ');
  return assemble(`0 CALLDATALOAD 224 SHR ${jumps} ${answer(VIEWS.encodeErrorResult('Error', [REFUSAL]), 'REVERT')} ${selectors.map((selector, at) => `do${at}: ${does[selector]}`).join(' ')}`);
}

/** several(to, value, bytes, call…, to, value, bytes, call…, …): one call after the other. */
export const SEVERAL = assemble(`CALLDATASIZE 0 0 CALLDATACOPY 0
  next: CALLDATASIZE DUP2 LT ISZERO @end JUMPI 0 0 DUP3 64 ADD MLOAD DUP4 96 ADD DUP5 32 ADD MLOAD DUP6 MLOAD GAS CALL POP DUP1 64 ADD MLOAD ADD 96 ADD @next JUMP
  end: STOP`);
export const severalCalls = (calls) => '0x' + calls.map(({ to, value = 0n, data = '0x' }) => word(to) + word(value) + word(data.length / 2 - 1) + data.slice(2)).join('');
