//! One transaction as a decoder sees it: its own exchange's events, and all transfers.

use alloy_primitives::{Address, B256};

use super::market::Market;
use super::transfers::Transfers;
use crate::abi::{Words, address};
use crate::raw::{Log, Tx};

/// A log with which an exchange tells of a sale.
pub struct SaleEvent<'a> {
    /// Place of the log within the transaction.
    pub at: usize,
    pub log: &'a Log,
    /// Place of the log within the block.
    pub log_index: u32,
    pub topic: B256,
    pub market: Market,
    pub exchange: Address,
    /// The name of the protocol that reads it.
    pub protocol: &'static str,
}

impl<'a> SaleEvent<'a> {
    pub fn data(&self) -> Words<'a> {
        Words(self.log.data.as_ref().map_or(&[], |data| data.as_ref()))
    }

    /// The address in an indexed field; the first is 1.
    pub fn indexed(&self, place: usize) -> Option<Address> {
        address(*self.log.topics.as_ref()?.get(place)?)
    }
}

pub struct TxContext<'a> {
    pub tx: Option<&'a Tx>,
    pub sender: Address,
    /// Of all exchanges, in the order of their logs.
    pub events: &'a [SaleEvent<'a>],
    pub transfers: &'a Transfers,
    /// Where a marketplace takes the native coin from that was deposited with it.
    pub native_pool: Option<Address>,
    /// The name of the protocol that reads now.
    pub protocol: &'static str,
}

impl<'a> TxContext<'a> {
    /// The events that are this decoder's to read.
    pub fn own_events(&self) -> impl Iterator<Item = &'a SaleEvent<'a>> {
        let name = self.protocol;
        self.events.iter().filter(move |event| event.protocol == name)
    }

    /// What the exchange was called with, where the transaction is that call and no router's.
    pub fn calldata(&self, exchange: Address) -> Option<&'a [u8]> {
        let tx = self.tx.filter(|tx| tx.to == Some(exchange))?;
        tx.input.as_ref().map(|input| input.as_ref())
    }
}
