//! Sales of NFTs on marketplaces.
//!
//! In: a block with receipts. Out: trades in the order of their logs. Traces are not needed: what
//! the events leave out is in the transfers and the calldata, so trades are the same without them.

mod blur_v1;
mod blur_v2;
mod looksrare_v1;
mod looksrare_v2;
mod moves;
mod registry;
mod sale;
mod scene;
mod seaport;
mod wyvern;
mod x2y2;
mod zerox;

use alloy_primitives::Address;
use model::chain::Chain;
use model::facts::{Market, Trade};
use model::raw::{Block, Log, Receipt, Tx};

use moves::Moves;
use registry::Protocol;
use sale::Payer;
use scene::{Event, Scene};

/// A contract whose events count, and who reads them.
struct Exchange {
    address: Address,
    market: Market,
    protocol: &'static Protocol,
}

/// The chain's exchanges, made ready once.
pub struct Nft {
    exchanges: Vec<Exchange>,
    /// Whether any event of these exchanges has an id that begins with this byte: nearly every log
    /// of a block is turned away by this alone.
    first_bytes: [bool; 256],
    /// Where Blur's bids are paid from.
    pool: Address,
    /// What stands for the native coin.
    wrapped: Option<Address>,
}

impl Nft {
    pub fn new(chain: &Chain) -> Self {
        let mut exchanges = Vec::new();
        let mut first_bytes = [false; 256];
        for marketplace in &chain.marketplaces {
            // Names that no request can ask for have no decoder either.
            let Some(market) = Market::from_name(&marketplace.name) else { continue };
            for contract in &marketplace.contracts {
                let found = registry::find(&contract.protocol, &contract.version);
                let Some(protocol) = found else { continue };
                for byte in protocol.topics.iter().filter_map(|topic| topic.first()) {
                    if let Some(known) = first_bytes.get_mut(usize::from(*byte)) {
                        *known = true;
                    }
                }
                exchanges.push(Exchange { address: contract.address, market, protocol });
            }
        }
        let pool = chain.native_pools.first().map_or(blur_v2::POOL, |pool| pool.address);
        let wrapped = chain.wrapped.as_ref().map(|wrapped| wrapped.address);
        Nft { exchanges, first_bytes, pool, wrapped }
    }

    pub fn trades(&self, block: &Block) -> Vec<Trade> {
        let mut trades = Vec::new();
        let mut events = Vec::new();
        let mut logs_before = 0;
        for (tx_index, receipt) in block.receipts.iter().enumerate() {
            let Some(receipt) = receipt else { continue };
            let logs = receipt.logs.as_deref().unwrap_or_default();
            self.find_events(logs, logs_before, &mut events);
            logs_before += logs.len();
            // A transaction that failed has no logs; a node that says otherwise is not believed.
            if !events.is_empty() && receipt.status != Some(0) {
                let tx = block.txs.get(tx_index);
                self.trades_of_tx(tx_index as u32, (tx, receipt), &events, &mut trades);
            }
        }
        trades
    }

    /// The logs in which one of the exchanges tells of a sale.
    fn find_events<'a>(&'a self, logs: &'a [Log], before: usize, events: &mut Vec<Event<'a>>) {
        events.clear();
        for (at, log) in logs.iter().enumerate() {
            let Some(topic) = log.topics.as_deref().and_then(<[_]>::first) else { continue };
            let first = topic.first().and_then(|byte| self.first_bytes.get(usize::from(*byte)));
            if first != Some(&true) {
                continue;
            }
            let by = self.exchanges.iter().find(|exchange| Some(exchange.address) == log.address);
            if let Some(by) = by.filter(|by| by.protocol.topics.contains(topic)) {
                let counted = log.log_index.and_then(|index| u32::try_from(index).ok());
                events.push(Event {
                    at,
                    log,
                    log_index: counted.unwrap_or((before + at) as u32),
                    topic: *topic,
                    market: by.market,
                    exchange: by.address,
                    protocol: by.protocol,
                });
            }
        }
    }

    fn trades_of_tx(
        &self,
        tx_index: u32,
        (tx, receipt): (Option<&Tx>, &Receipt),
        events: &[Event],
        trades: &mut Vec<Trade>,
    ) {
        let mut moves = Moves::read(receipt.logs.as_deref().unwrap_or_default());
        let sender = tx.and_then(|tx| tx.from).or(receipt.from).unwrap_or_default();
        let mut claimed = Vec::new();
        for protocol in registry::PROTOCOLS {
            if !events.iter().any(|event| event.protocol.name == protocol.name) {
                continue;
            }
            let scene = Scene { tx, sender, events, moves: &moves, pool: self.pool, protocol };
            let mut sales = Vec::new();
            (protocol.read)(&scene, &mut sales);
            claimed.extend(sales.into_iter().map(|sale| sale.claim(&mut moves)));
        }
        let first = trades.len();
        let payer = Payer { sender, wrapped: self.wrapped };
        trades.extend(claimed.into_iter().map(|sale| sale.settle(&moves, tx_index, &payer)));
        if let Some(added) = trades.get_mut(first..) {
            added.sort_by_key(|trade| trade.log_index);
        }
    }
}
