//! Seeded: a chain that grows and reorganises at random under nodes with random faults, while the
//! ingest is stopped and started again with the store opened anew.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::{Fault, Rule, SimNode, Tamper, read, write};

use crate::setup::*;

const LIES: [Tamper; 4] = [
    Tamper::WrongParentRehashed,
    Tamper::DroppedLog,
    Tamper::OtherBlocksBody,
    Tamper::ChangedValue,
];

/// One of the things that go wrong, never for ever.
fn random_fault(random: &mut StdRng) -> Rule {
    match random.random_range(0..6) {
        0 => Rule::new(Fault::FlappingHead).times(40),
        1 => Rule::new(Fault::Lag(random.random_range(1..6))).times(30),
        2 => Rule::new(Fault::TruncatedBody).with_probability(0.2).times(10),
        3 => Rule::new(Fault::HttpError(503)).with_probability(0.2).times(10),
        4 => Rule::new(Fault::Delay(Duration::from_millis(60))).times(20),
        _ => Rule::from(LIES[random.random_range(0..LIES.len())]).with_probability(0.5).times(30),
    }
}

async fn simulate(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let chain = sim(200 + seed, random.random_range(0..120));
    let nodes: Vec<SimNode> = vec![node(&chain).await, node(&chain).await];
    let mut rig = Rig::new(&nodes.iter().collect::<Vec<_>>()).await;
    rig.pool.timeout_ms = 1_000;
    let mut ingest = rig.start();
    for _ in 0..14 {
        match random.random_range(0..5) {
            0 => drop(write(&chain).extend(random.random_range(1..90))),
            1 => drop(write(&chain).extend(1)),
            2 => {
                let depth = random.random_range(1..30);
                let longer = random.random_range(0..10);
                write(&chain).reorg(depth, depth + longer);
            }
            3 => {
                let node = &nodes[random.random_range(0..nodes.len())];
                node.faults.add(random_fault(&mut random));
            }
            _ => {
                drop(ingest);
                rig.reopen().await;
                ingest = rig.start();
            }
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..120))).await;
    }
    nodes.iter().for_each(|node| node.faults.clear());
    write(&chain).extend(1);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    rig.holds_only(&chain).await;
    assert!(read(&chain).head_number() > 0);
}

#[tokio::test]
async fn whatever_happens_the_store_ends_as_the_chain_does() {
    for seed in 0..8 {
        simulate(seed).await;
    }
}
