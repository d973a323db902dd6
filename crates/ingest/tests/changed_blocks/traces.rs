//! Traces that cannot be what happened, in both dialects: none is taken for consistent, and the blocks as they
//! were are.

use ingest::source::read_record;
use ingest::verify::{Lie, Rules, Senders, verify};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use model::proof::Proof;
use serde_json::{Value, json};
use testkit::lies::TraceLie;
use testkit::{SimChain, SimConfig};

use crate::cases::recorded;

const CHAIN: ChainId = ChainId(1337);

fn chain(verification: Verification) -> Chain {
    let mut private = PrivateChain::new(CHAIN, "sim");
    private.verification = Some(verification);
    ChainTable::default().with_private(private).unwrap().get(CHAIN).unwrap().clone()
}

/// The same blocks with traces as geth and as Parity write them.
fn simulated() -> Vec<(&'static str, Vec<Value>)> {
    let config = SimConfig { txs_per_block: 12, wallets: 20, ..SimConfig::seeded(47) };
    let mut sim = SimChain::new(config);
    sim.extend(24);
    let parse = |bytes: &[u8]| -> Value { serde_json::from_slice(bytes).unwrap() };
    let record = |number, traces: &[u8]| {
        json!({
            "block": parse(&sim.block_json(number, true).unwrap()),
            "receipts": parse(&sim.receipts_json(number).unwrap()),
            "traces": parse(traces),
        })
    };
    let geth = |number| record(number, &sim.traces_geth_json(number).unwrap());
    let parity = |number| record(number, &sim.traces_parity_json(number).unwrap());
    vec![("geth", (1..=24).map(geth).collect()), ("parity", (1..=24).map(parity).collect())]
}

fn verified(record: &Value, chain: &Chain) -> Result<Proof, Lie> {
    let block = read_record(record.to_string().as_bytes()).unwrap();
    assert!(block.traces.is_some(), "{}", record["block"]["number"]);
    verify(&block, &Rules::of(chain, Senders::Sample))
}

/// Every change on the first block that has a frame for it; says which kinds found one.
fn hold(name: &str, records: &[Value], chain: &Chain) -> Vec<TraceLie> {
    for record in records {
        let proof = verified(record, chain).unwrap_or_else(|lie| panic!("{name}: {lie}"));
        assert!(proof.has(Proof::TRACES), "{name}");
    }
    let mut tried = Vec::new();
    for kind in TraceLie::ALL {
        let changed = records.iter().find_map(|record| {
            let mut record = record.clone();
            kind.apply(&mut record["traces"]).then_some(record)
        });
        let Some(changed) = changed else { continue };
        let lie = verified(&changed, chain).expect_err(&format!("{name}: {kind:?} is believed"));
        assert!(lie.check.starts_with("trace "), "{name}: {kind:?}: {lie}");
        tried.push(kind);
    }
    tried
}

#[test]
fn no_changed_simulated_trace_is_taken_for_consistent() {
    with_room(|| {
        for (dialect, records) in simulated() {
            let tried = hold(dialect, &records, &chain(Verification::Full));
            assert_eq!(tried, TraceLie::ALL, "{dialect}");
        }
    });
}

/// A thousand calls in each other are a JSON value that takes a deep stack to copy and to write.
fn with_room(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test).unwrap();
    thread.join().unwrap();
}

#[test]
fn a_chain_with_rules_of_its_own_is_held_to_none_of_ours() {
    let (_, records) = simulated().remove(0);
    let chain = chain(Verification::Lenient);
    let mut changed = records.into_iter();
    let changed = changed.find_map(|mut record| {
        TraceLie::OtherCaller.apply(&mut record["traces"]).then_some(record)
    });
    assert!(verified(&changed.unwrap(), &chain).unwrap().has(Proof::TRACES));
}

#[test]
fn no_changed_recorded_trace_is_taken_for_consistent() {
    with_room(recorded_traces);
}

fn recorded_traces() {
    let Some(cases) = recorded() else { return };
    let mut tried = 0;
    for case in cases {
        let traced: Vec<Value> =
            case.records.into_iter().filter(|record| record["traces"].is_array()).collect();
        tried += hold(&case.name, &traced, &case.chain).len();
    }
    assert!(tried > 30, "{tried}");
}
