//! Round trips that others recorded, through a server that stores nothing and forwards to a node which answers as the
//! record does: alone and in a batch, by POST and over a WebSocket, and what cannot change again from the cache.
//!
//! `cargo test --workspace --test it recorded_round_trips -- --nocapture` prints the score.

mod node;
mod openrpc;
mod round_trips;
mod score;

use score::{Score, play};

/// What was recorded there contradicts the description itself: `out of gas` has no place in it.
const ODD_RECORDS: [&str; 2] = [
    "eth_simulateV1/ethSimulate-run-out-of-gas-in-block-38015.io",
    "eth_simulateV1/ethSimulate-use-as-many-features-as-possible.io",
];

#[test]
fn recorded_round_trips_of_execution_apis_come_back_as_they_were() {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        return testkit::fixtures::skip("recorded round trips");
    };
    let folder = fixtures.join("rpc/execution-apis");
    let openrpc = openrpc::OpenRpc::read(&folder.join("openrpc.json.gz"));
    let trips = round_trips::execution_apis(&folder.join("tests"));
    let score = play(0xc72dd9d5e883e, &trips, &openrpc);
    println!("{}\n{}", Score::HEAD, score.line("execution-apis"));
    assert!(score.trips > 200);
    assert_eq!(score.wrong, Vec::<String>::new());
    assert_eq!(score.odd, ODD_RECORDS);
}

#[test]
fn recorded_round_trips_of_erigon_come_back_as_they_were() {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        return testkit::fixtures::skip("recorded round trips");
    };
    let openrpc = openrpc::OpenRpc::read(&fixtures.join("rpc/execution-apis/openrpc.json.gz"));
    let chains = [
        ("mainnet", 1),
        ("sepolia", 11_155_111),
        ("gnosis", 100),
        ("polygon-pos", 137),
        ("arb-sepolia", 421_614),
    ];
    println!("{}", Score::HEAD);
    let mut wrong = Vec::new();
    for (name, chain_id) in chains {
        let trips = round_trips::erigon(&fixtures.join("rpc/erigon-recorded").join(name));
        let score = play(chain_id, &trips, &openrpc);
        println!("{}", score.line(name));
        wrong.extend(score.wrong);
    }
    // What these nodes wrote themselves need not have the form that Ethereum's description asks for.
    assert_eq!(wrong, Vec::<String>::new());
}
