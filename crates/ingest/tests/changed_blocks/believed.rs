//! Which changed blocks are taken for verified: none may be.

use std::collections::BTreeSet;

use model::proof::Level;
use testkit::lies;

use crate::cases::{Case, Outcome, changed, outcome, recorded, simulated};

/// Every change, on the first blocks of each case that have something to change.
fn hold(cases: &[Case]) -> (usize, BTreeSet<String>) {
    let mut tried = 0;
    let mut kinds = BTreeSet::new();
    let mut believed = Vec::new();
    for case in cases {
        for record in &case.records {
            match outcome(record, &case.chain) {
                Outcome::Stored(proof) => {
                    assert_eq!(proof.level(), Level::Verified, "{}", case.name)
                }
                Outcome::Refused(why) => panic!("{}: an honest block is refused: {why}", case.name),
            }
        }
        for lie in lies::all() {
            for record in case.records.iter().filter_map(|record| changed(record, &lie)).take(1) {
                tried += 1;
                kinds.insert(lie.to_string());
                match outcome(&record, &case.chain) {
                    Outcome::Stored(proof) if proof.level() == Level::Verified => {
                        believed.push(format!("{}: {lie}", case.name));
                    }
                    _ => {}
                }
            }
        }
    }
    println!("{tried} changed blocks of {} kinds, {} believed", kinds.len(), believed.len());
    assert!(
        believed.is_empty(),
        "{} of {tried} are believed:\n{}",
        believed.len(),
        believed.join("\n")
    );
    (tried, kinds)
}

#[test]
fn no_changed_simulated_block_is_taken_for_verified() {
    let (tried, kinds) = hold(&simulated());
    assert!(tried > 1_000 && kinds.len() > 300, "{tried} of {}", kinds.len());
}

#[test]
fn no_changed_recorded_block_is_taken_for_verified() {
    let Some(cases) = recorded() else { return };
    let (tried, kinds) = hold(&cases);
    assert!(tried > 700 && kinds.len() > 200, "{tried} of {}", kinds.len());
}
