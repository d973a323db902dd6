//! A block of six transactions that has every case once.

use alloy_primitives::{Address, B256, U256, keccak256};
use model::abi::TRANSFER;
use model::raw::{Block, Frame, FrameKind, Log, Receipt, Tx};

pub const A: Address = Address::repeat_byte(0xa1);
pub const B: Address = Address::repeat_byte(0xb2);
/// A coin.
pub const COIN: Address = Address::repeat_byte(0xc3);
/// Created by a transaction.
pub const CREATED: Address = Address::repeat_byte(0xd4);
/// Not created: the transaction failed.
pub const NOT_CREATED: Address = Address::repeat_byte(0xe5);
pub const X: Address = Address::repeat_byte(0x71);
pub const Y: Address = Address::repeat_byte(0x82);
/// An NFT contract.
pub const NFT: Address = Address::repeat_byte(0x93);
/// On the operator's list.
pub const SPAM: Address = Address::repeat_byte(0x66);

/// Transactions: 0 A→B; 1 B creates; 2 B fails to create; 3 X→COIN with logs 0, 1, 2 and frames; 4 X→Y with
/// log 3; 5 X→SPAM with log 4.
pub fn block() -> Block {
    let mut made = Made::default();
    made.tx(A, Some(B), None, vec![]);
    made.tx(B, None, Some((CREATED, 1)), vec![]);
    made.tx(B, None, Some((NOT_CREATED, 0)), vec![]);
    let transfer = log(COIN, &[TRANSFER, A.into_word(), B.into_word()], &[U256::from(5).into()]);
    let mention = log(Y, &[B256::repeat_byte(1)], &[U256::MAX.into(), A.into_word()]);
    let approval = keccak256("Approval(address,address,uint256)");
    let approval = log(COIN, &[approval, X.into_word(), Y.into_word()], &[U256::from(6).into()]);
    made.tx(X, Some(COIN), None, vec![transfer, mention, approval]);
    let nft = log(NFT, &[TRANSFER, Y.into_word(), X.into_word(), U256::from(7).into()], &[]);
    made.tx(X, Some(Y), None, vec![nft]);
    let spam = log(SPAM, &[TRANSFER, A.into_word(), X.into_word()], &[U256::from(8).into()]);
    made.tx(X, Some(SPAM), None, vec![spam]);
    let mut block = made.block;
    let frame = |path: &[u32], kind, to, value: u64| Frame {
        path: path.to_vec(),
        kind,
        from: if path.is_empty() { X } else { COIN },
        to: Some(to),
        value: U256::from(value),
        gas: 9000,
        ..Frame::default()
    };
    let failed = |frame: Frame| Frame { error: Some("out of gas".into()), ..frame };
    let mut traces = vec![vec![]; block.txs.len()];
    traces[3] = vec![
        frame(&[], FrameKind::Call, COIN, 5),
        frame(&[0], FrameKind::Call, A, 7),
        frame(&[1], FrameKind::DelegateCall, B, 7),
        frame(&[2], FrameKind::Call, A, 0),
        failed(frame(&[3], FrameKind::Call, B, 3)),
        frame(&[4], FrameKind::Call, SPAM, 4),
    ];
    block.traces = Some(traces);
    block
}

pub fn log(address: Address, topics: &[B256], words: &[B256]) -> Log {
    Log {
        address: Some(address),
        topics: Some(topics.to_vec()),
        data: Some(model::abi::joined(words).into()),
        ..Log::default()
    }
}

#[derive(Default)]
struct Made {
    block: Block,
}

impl Made {
    fn tx(
        &mut self,
        from: Address,
        to: Option<Address>,
        created: Option<(Address, u64)>,
        logs: Vec<Log>,
    ) {
        let place = self.block.txs.len() as u8;
        let hash = Some(B256::repeat_byte(0x10 + place));
        let number = Some(U256::from(place));
        self.block.txs.push(Tx { hash, from: Some(from), to, value: number, ..Tx::default() });
        self.block.receipts.push(Some(Receipt {
            transaction_hash: hash,
            contract_address: created.map(|(address, _)| address),
            status: Some(created.map_or(1, |(_, status)| status)),
            logs: Some(logs),
            ..Receipt::default()
        }));
        self.block.number = 77;
        self.block.timestamp = 1_700_000_000;
        self.block.hash = B256::repeat_byte(0x77);
    }
}
