//! Sales of NFTs on marketplaces.
//!
//! In: a block with receipts. Out: trades in the order of their logs. Traces are not needed: what
//! the events leave out is in the transfers and the calldata, so trades are the same without them.
//! How each marketplace tells of a sale is in `model::marketplaces`.

mod settle;

use alloy_primitives::Address;
use model::chain::Chain;
use model::facts::{Market, Trade};
use model::marketplaces::{Protocol, SaleEvent, Transfers, TxContext, find_protocol, protocols};
use model::raw::{Block, Log, Receipt, Tx};

use settle::{Claimed, Payer};

/// A contract whose events count, and who reads them.
struct MarketContract {
    address: Address,
    market: Market,
    protocol: &'static Protocol,
}

/// The chain's marketplaces, made ready once.
pub struct Nft {
    contracts: Vec<MarketContract>,
    /// Whether any event of these contracts has an id that begins with this byte: nearly every log
    /// of a block is turned away by this alone.
    first_bytes: [bool; 256],
    /// Where a marketplace takes the native coin from that was deposited with it.
    native_pool: Option<Address>,
    /// What stands for the native coin.
    wrapped: Option<Address>,
}

impl Nft {
    pub fn new(chain: &Chain) -> Self {
        let mut contracts = Vec::new();
        let mut first_bytes = [false; 256];
        for marketplace in &chain.marketplaces {
            // Names that no request can ask for have no decoder either.
            let Some(market) = Market::from_name(&marketplace.name) else { continue };
            for contract in &marketplace.contracts {
                let found = find_protocol(&contract.protocol, &contract.version);
                let Some(protocol) = found else { continue };
                for byte in protocol.events.iter().filter_map(|(topic, _)| topic.first()) {
                    if let Some(known) = first_bytes.get_mut(usize::from(*byte)) {
                        *known = true;
                    }
                }
                contracts.push(MarketContract { address: contract.address, market, protocol });
            }
        }
        let native_pool = chain.native_pools.first().map(|pool| pool.address);
        let wrapped = chain.wrapped.as_ref().map(|wrapped| wrapped.address);
        Nft { contracts, first_bytes, native_pool, wrapped }
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

    /// The logs in which a marketplace tells of a sale.
    fn find_events<'a>(&'a self, logs: &'a [Log], before: usize, events: &mut Vec<SaleEvent<'a>>) {
        events.clear();
        for (at, log) in logs.iter().enumerate() {
            let Some(topic) = log.topics.as_deref().and_then(<[_]>::first) else { continue };
            let first = topic.first().and_then(|byte| self.first_bytes.get(usize::from(*byte)));
            if first != Some(&true) {
                continue;
            }
            let by = self.contracts.iter().find(|it| Some(it.address) == log.address);
            if let Some(by) = by.filter(|by| by.protocol.has_event(topic)) {
                let counted = log.log_index.and_then(|index| u32::try_from(index).ok());
                events.push(SaleEvent {
                    at,
                    log,
                    log_index: counted.unwrap_or((before + at) as u32),
                    topic: *topic,
                    market: by.market,
                    exchange: by.address,
                    protocol: by.protocol.name,
                });
            }
        }
    }

    fn trades_of_tx(
        &self,
        tx_index: u32,
        (tx, receipt): (Option<&Tx>, &Receipt),
        events: &[SaleEvent],
        trades: &mut Vec<Trade>,
    ) {
        let mut transfers = Transfers::read(receipt.logs.as_deref().unwrap_or_default());
        let sender = tx.and_then(|tx| tx.from).or(receipt.from).unwrap_or_default();
        let mut claimed = Vec::new();
        for protocol in protocols() {
            if !events.iter().any(|event| event.protocol == protocol.name) {
                continue;
            }
            let context = TxContext {
                tx,
                sender,
                events,
                transfers: &transfers,
                native_pool: self.native_pool,
                protocol: protocol.name,
            };
            let mut sales = Vec::new();
            (protocol.read)(&context, &mut sales);
            claimed.extend(sales.into_iter().map(|sale| Claimed::new(sale, &mut transfers)));
        }
        let first = trades.len();
        let payer = Payer { sender, wrapped: self.wrapped };
        trades.extend(claimed.into_iter().map(|sale| sale.settle(&transfers, tx_index, &payer)));
        if let Some(added) = trades.get_mut(first..) {
            added.sort_by_key(|trade| trade.log_index);
        }
    }
}
