//! The queries of docs/sql.md, on a chain that has something to say to each of them.

use alloy_primitives::hex;
use model::raw::Block;
use store::{Change, Origin};
use testkit::SimConfig;

use crate::chain::*;
use crate::engine::Engine;
use crate::home::Home;
use crate::made_facts;
use crate::postgres_server;

const DOC: &str = include_str!("../../../../docs/sql.md");
const TRANSFER: [u8; 4] = [0xdd, 0xf2, 0x52, 0xad];

fn queries() -> Vec<&'static str> {
    DOC.split("```sql").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// Bytes as a literal.
fn literal(bytes: impl AsRef<[u8]>) -> String {
    format!("'\\x{}'::bytea", hex::encode(bytes))
}

/// A contract with events, and who received a token.
fn named_in(blocks: &[Block]) -> (Vec<u8>, Vec<u8>) {
    let receipts = blocks.iter().flat_map(|block| block.receipts.iter().flatten());
    let logs: Vec<_> = receipts.flat_map(|receipt| receipt.logs.iter().flatten()).collect();
    let is_transfer = |log: &&&model::raw::Log| {
        let topics = log.topics.as_deref().unwrap_or_default();
        topics.len() == 3 && topics[0].starts_with(&TRANSFER)
    };
    let transfer = logs.iter().find(is_transfer).unwrap();
    let receiver = transfer.topics.as_ref().unwrap()[2][12..].to_vec();
    (transfer.address.unwrap().to_vec(), receiver)
}

#[tokio::test]
async fn every_query_of_the_page_runs_and_finds_something() {
    let Some(server) = postgres_server::server() else { return };
    let chain = made(SimConfig { txs_per_block: 12, ..SimConfig::seeded(31) }, 40);
    let home = Home::new(Engine::Postgres).await;
    let blocks: Vec<Block> = chain.blocks().iter().map(|it| block(&chain, it.hash)).collect();
    let prepare = |number: u64| {
        let mut block = verified(&chain, chain.block(number).unwrap().hash);
        block.facts = made_facts::facts(block.block.hash, block.block.txs.len());
        home.store().prepare(CHAIN, block)
    };
    let change = Change::apply(Origin::Import, (0..=40).map(prepare).collect());
    home.commit(change).await.unwrap();
    let (contract, receiver) = named_in(&blocks);
    let values = [
        (":chain", CHAIN.0.to_string()),
        (":wallet", literal(chain.address_of("exchange").unwrap())),
        (":contract", literal(contract)),
        (":receiver", literal(receiver)),
        (":collection", literal(made_facts::contract(0))),
        (":token", literal([0xd0; 20])),
        (":from_block", "0".to_owned()),
        (":to_block", "40".to_owned()),
    ];
    let queries = queries();
    assert_eq!(queries.len(), 10);
    let client = server.client(&server.database(home.folder()).await).await;
    for query in queries {
        let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
        let query = values.iter().fold(query.to_owned(), fill);
        let found = client.simple_query(&query).await;
        let found = found.unwrap_or_else(|error| panic!("{query}: {error:?}"));
        let is_row = |message: &&tokio_postgres::SimpleQueryMessage| {
            matches!(message, tokio_postgres::SimpleQueryMessage::Row(_))
        };
        assert!(found.iter().filter(is_row).count() > 0, "nothing was found by {query}");
    }
}
