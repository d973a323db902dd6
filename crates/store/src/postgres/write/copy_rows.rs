//! Rows of blocks, copied in binary form, table by table.

use std::pin::Pin;

use alloy_primitives::{Address, B256, U256};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use super::ChainWrite;
use crate::Error;
use crate::postgres::connection::{Columns, Connection, Param};
use crate::postgres::numbers::{Amount, shown, stored};
use crate::postgres::prepare::{FrameRow, LogRow, PgBlock, TxRow};

const BLOCKS: &str = "copy blocks (chain, number, hash, parent_hash, timestamp, proof, tx_count, receipt_count, has_traces, \
     miner, gas_limit, gas_used, base_fee_per_gas, packed, trace_roots) from stdin (format binary)";
const BLOCK_TYPES: Columns = &[
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
    Type::BYTEA,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::INT4,
    Type::BOOL,
    Type::BYTEA,
    Type::INT8,
    Type::INT8,
    Type::NUMERIC,
    Type::BYTEA,
    Type::BYTEA,
];
const TXS: &str = "copy transactions (chain, number, tx_index, hash, from_address, to_address, contract_address, nonce, value, \
     gas_price, gas_used, status, type, method, packed) from stdin (format binary)";
const TX_TYPES: Columns = &[
    Type::INT8,
    Type::INT8,
    Type::INT4,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::INT8,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::INT8,
    Type::INT2,
    Type::INT2,
    Type::BYTEA,
    Type::BYTEA,
];
const LOGS: &str = "copy logs (chain, number, tx_index, place, log_index, address, topic0, topic1, topic2, topic3, data, form, \
     packed) from stdin (format binary)";
const LOG_TYPES: Columns = &[
    Type::INT8,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::INT8,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::BYTEA,
    Type::INT2,
    Type::BYTEA,
];
const FRAMES: &str = "copy internal_transactions (chain, number, tx_index, place, kind, depth, from_address, to_address, value, \
     failed, packed) from stdin (format binary)";
const FRAME_TYPES: Columns = &[
    Type::INT8,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::TEXT,
    Type::INT4,
    Type::BYTEA,
    Type::BYTEA,
    Type::NUMERIC,
    Type::BOOL,
    Type::BYTEA,
];
const WALLETS: &str = "copy wallet_transactions (chain, address, direct, number, tx_index) from stdin (format binary)";
const WALLET_TYPES: Columns = &[Type::INT8, Type::BYTEA, Type::BOOL, Type::INT8, Type::INT4];

/// A COPY that is under way.
pub struct Copy<'a> {
    connection: &'a Connection,
    writer: Pin<Box<BinaryCopyInWriter>>,
}

impl<'a> Copy<'a> {
    pub async fn begin(
        connection: &'a Connection,
        statement: &'static str,
        types: Columns,
    ) -> Result<Self, Error> {
        let sink = connection.copy_in(statement).await?;
        Ok(Copy { connection, writer: Box::pin(BinaryCopyInWriter::new(sink, types)) })
    }

    pub async fn row(&mut self, row: &[Param<'_>]) -> Result<(), Error> {
        let written = self.writer.as_mut().write(row).await;
        written.map_err(|error| self.connection.failed("write", error))
    }

    pub async fn end(mut self) -> Result<(), Error> {
        let ended = self.writer.as_mut().finish().await;
        ended.map(|_| ()).map_err(|error| self.connection.failed("write", error))
    }
}

pub fn bytes20(address: &Option<Address>) -> Option<&[u8]> {
    address.as_ref().map(|it| it.as_slice())
}

fn bytes32(hash: &Option<B256>) -> Option<&[u8]> {
    hash.as_ref().map(B256::as_slice)
}

fn amount(value: Option<U256>) -> Option<Amount> {
    value.map(Amount)
}

fn small(number: Option<u64>) -> Option<i16> {
    number.and_then(|number| i16::try_from(number).ok())
}

impl ChainWrite<'_> {
    pub async fn copy_blocks(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        if blocks.is_empty() {
            return Ok(());
        }
        self.copy_headers(blocks).await?;
        self.copy_txs(blocks).await?;
        self.copy_logs(blocks).await?;
        self.copy_frames(blocks).await?;
        self.copy_wallets(blocks).await
    }

    async fn copy_headers(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        let mut copy = Copy::begin(&self.connection, BLOCKS, BLOCK_TYPES).await?;
        for PgBlock { head, header, .. } in blocks {
            copy.row(&[
                &self.id(),
                &stored("block number", head.number)?,
                &head.hash.as_slice(),
                &bytes32(&header.parent_hash),
                &stored("time of a block", head.timestamp)?,
                &i32::from(head.proof.bits()),
                &(head.tx_count as i32),
                &(head.receipt_count as i32),
                &head.has_traces,
                &bytes20(&header.miner),
                &shown(header.gas_limit),
                &shown(header.gas_used),
                &amount(header.base_fee),
                &header.packed,
                &header.trace_roots,
            ])
            .await?;
        }
        copy.end().await
    }

    async fn copy_txs(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        if blocks.iter().all(|block| block.txs.is_empty()) {
            return Ok(());
        }
        let mut copy = Copy::begin(&self.connection, TXS, TX_TYPES).await?;
        for block in blocks {
            let number = block.head.number as i64;
            for tx in &block.txs {
                let TxRow { index, hash, from, to, contract, method, packed, .. } = tx;
                copy.row(&[
                    &self.id(),
                    &number,
                    &(*index as i32),
                    &bytes32(hash),
                    &bytes20(from),
                    &bytes20(to),
                    &bytes20(contract),
                    &shown(tx.nonce),
                    &amount(tx.value),
                    &amount(tx.gas_price),
                    &shown(tx.gas_used),
                    &small(tx.status),
                    &small(tx.kind),
                    method,
                    packed,
                ])
                .await?;
            }
        }
        copy.end().await
    }

    async fn copy_logs(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        if blocks.iter().all(|block| block.logs.is_empty()) {
            return Ok(());
        }
        let mut copy = Copy::begin(&self.connection, LOGS, LOG_TYPES).await?;
        for block in blocks {
            let number = block.head.number as i64;
            for log in &block.logs {
                let LogRow { tx_index, place, address, topics, data, form, packed, .. } = log;
                let [t0, t1, t2, t3] = topics;
                copy.row(&[
                    &self.id(),
                    &number,
                    &(*tx_index as i32),
                    &(*place as i32),
                    &shown(log.log_index),
                    &bytes20(address),
                    &bytes32(t0),
                    &bytes32(t1),
                    &bytes32(t2),
                    &bytes32(t3),
                    data,
                    &form.code(),
                    packed,
                ])
                .await?;
            }
        }
        copy.end().await
    }

    async fn copy_frames(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        if blocks.iter().all(|block| block.frames.is_empty()) {
            return Ok(());
        }
        let mut copy = Copy::begin(&self.connection, FRAMES, FRAME_TYPES).await?;
        for block in blocks {
            let number = block.head.number as i64;
            for frame in &block.frames {
                let FrameRow { tx_index, place, kind, depth, from, to, value, failed, packed } =
                    frame;
                copy.row(&[
                    &self.id(),
                    &number,
                    &(*tx_index as i32),
                    &(*place as i32),
                    kind,
                    &(*depth as i32),
                    &from.as_slice(),
                    &bytes20(to),
                    &Amount(*value),
                    failed,
                    packed,
                ])
                .await?;
            }
        }
        copy.end().await
    }

    /// In the order of the index: neighbours go in one after the other.
    async fn copy_wallets(&self, blocks: &[PgBlock]) -> Result<(), Error> {
        let of_block = |block: &PgBlock| {
            let number = block.head.number as i64;
            let row = move |party: &crate::postgres::prepare::Party| {
                (party.address, party.direct, number, party.index as i32)
            };
            block.wallets.iter().map(row).collect::<Vec<_>>()
        };
        let mut rows: Vec<(Address, bool, i64, i32)> = blocks.iter().flat_map(of_block).collect();
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_unstable();
        let mut copy = Copy::begin(&self.connection, WALLETS, WALLET_TYPES).await?;
        for (address, direct, number, index) in &rows {
            copy.row(&[&self.id(), &address.as_slice(), direct, number, index]).await?;
        }
        copy.end().await
    }
}
