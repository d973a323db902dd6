//! A server over blocks with sales that the tests make up: encoded as the exchanges log them, read by
//! the same decoders as real blocks.

use alloy_primitives::{Address, B256, U256, keccak256};
use decode::Decoder;
use model::chain::{ChainId, ChainTable};
use model::proof::Proof;
use model::raw::{Block, Header, Log, Receipt, Tx};
use serde_json::Value;
use store::{Change, Options, Origin, Store, VerifiedBlock};
use testkit::{Sale, Venue};

use crate::test_server::{Answer, TestServer, VERIFIED, block_on, open};

pub const ETH: ChainId = ChainId(1);
pub const APES: Address = Address::repeat_byte(0xa9);
/// Verified by the operator's list.
pub const CATS: Address = Address::repeat_byte(0xca);
pub const SELLER: Address = Address::repeat_byte(0x51);
pub const BUYER: Address = Address::repeat_byte(0xb1);
pub const NATIVE: Address = Address::ZERO;
/// 2021-06-04T16:00:15Z
pub const START: u64 = 1_622_822_415;
pub const DAY: u64 = 24 * 3600;

pub struct NftMarket {
    pub server: TestServer,
    store: Store,
    decoder: Decoder,
    head: Option<(u64, B256)>,
    branch: u8,
}

impl NftMarket {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(VERIFIED), format!("eth,{CATS}\n")).unwrap();
        let mut options = Options::new(folder.path());
        options.durable = false;
        let store = open(&options);
        let server = TestServer::over(store.clone(), folder, &["eth", "silent"]);
        let eth = ChainTable::builtin().unwrap().find("eth").unwrap().clone();
        NftMarket { server, store, decoder: Decoder::new(&eth), head: None, branch: 0 }
    }

    /// A block on top, a transaction for each of the sales; gives its number.
    pub fn mine(&mut self, timestamp: u64, sales: &[Sale]) -> u64 {
        self.commit(Vec::new(), timestamp, sales)
    }

    /// Another block in the place of the last.
    pub fn replace(&mut self, timestamp: u64, sales: &[Sale]) -> u64 {
        let (number, _) = self.head.unwrap();
        let view = block_on(self.store.view()).unwrap();
        let parent = block_on(view.parent_hash(ETH, number)).unwrap().unwrap();
        self.head = number.checked_sub(1).map(|below| (below, parent));
        self.branch += 1;
        self.commit(vec![number], timestamp, sales)
    }

    fn commit(&mut self, revert: Vec<u64>, timestamp: u64, sales: &[Sale]) -> u64 {
        let block = self.block(timestamp, sales);
        let (number, hash) = (block.number, block.hash);
        let facts = self.decoder.decode(&block);
        assert_eq!(facts.trades.len(), sales.len(), "every sale is understood");
        let verified = VerifiedBlock { block, proof: Proof::default(), facts };
        let apply = vec![self.store.prepare(ETH, verified)];
        let change = Change { revert, ..Change::apply(Origin::Head, apply) };
        block_on(self.store.commit(ETH, change)).unwrap();
        self.head = Some((number, hash));
        number
    }

    fn block(&self, timestamp: u64, sales: &[Sale]) -> Block {
        let number = self.head.map_or(0, |(number, _)| number + 1);
        let parent_hash = self.head.map_or(B256::ZERO, |(_, hash)| hash);
        let hash = keccak256([&number.to_be_bytes()[..], &[self.branch]].concat());
        let header = Header {
            number: Some(number),
            hash: Some(hash),
            parent_hash: Some(parent_hash),
            timestamp: Some(timestamp),
            ..Header::default()
        };
        let mut block = Block { number, hash, parent_hash, timestamp, header, ..Block::default() };
        for (index, sale) in sales.iter().enumerate() {
            block.txs.push(Tx {
                hash: Some(keccak256([hash.as_slice(), &[index as u8]].concat())),
                transaction_index: Some(index as u64),
                from: Some(sale.buyer),
                to: Some(sale.venue.exchange()),
                ..Tx::default()
            });
            let logs = sale.logs().into_iter().map(|log| Log {
                address: Some(log.address),
                topics: Some(log.topics().to_vec()),
                data: Some(log.data.data.clone()),
                ..Log::default()
            });
            let (status, logs) = (Some(1), Some(logs.collect()));
            block.receipts.push(Some(Receipt { status, logs, ..Receipt::default() }));
        }
        block
    }

    pub fn trades(&self, contract: Address, query: &str) -> Answer {
        self.server.get(&format!("/api/v2.2/nft/{contract:#x}/trades?{query}"))
    }

    pub fn lowest(&self, contract: Address, query: &str) -> Answer {
        self.server.get(&format!("/api/v2.2/nft/{contract:#x}/lowestprice?{query}"))
    }

    /// The first token of every row of all pages, in their order.
    pub fn ids(&self, contract: Address, query: &str) -> Vec<u64> {
        let mut ids = Vec::new();
        let mut cursor = String::new();
        for page in 0.. {
            let answer = self.trades(contract, &format!("{query}&cursor={cursor}"));
            assert_eq!(answer.status, 200, "{answer:?}");
            let json = answer.json();
            assert_eq!(json["page"], page.to_string());
            let first = |row: &Value| row["token_ids"][0].as_str().unwrap().parse::<u64>().unwrap();
            ids.extend(json["result"].as_array().unwrap().iter().map(first));
            cursor = json["cursor"].as_str().unwrap().to_owned();
            if cursor.is_empty() {
                break;
            }
        }
        ids
    }
}

/// An ape sold on OpenSea for native coin.
pub fn ape(id: u64, price: u64) -> Sale {
    Sale {
        venue: Venue::Seaport,
        contract: APES,
        ids: vec![U256::from(id)],
        seller: SELLER,
        buyer: BUYER,
        currency: NATIVE,
        price: U256::from(price),
    }
}

pub fn ape_on(venue: Venue, id: u64, price: u64) -> Sale {
    Sale { venue, ..ape(id, price) }
}
