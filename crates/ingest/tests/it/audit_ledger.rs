//! Recorded blocks: what their node wrote down of every balance stands in for proofs.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256};
use ingest::audit::{Verdict, explained, judge};
use ingest::source::files;
use model::chain::{ChainId, ChainTable};
use model::raw::{Block, Withdrawal};
use serde_json::Value;

use crate::changed_transfers::changed_transfers;

type Balances = BTreeMap<Address, (U256, U256)>;

fn recorded() -> Option<Vec<(Block, Balances)>> {
    let Some(root) = testkit::fixtures::fixtures_dir() else {
        testkit::fixtures::skip("ledger");
        return None;
    };
    let path = root.join("ledger/native-balances-17686110-17686121.json.gz");
    let file = std::fs::File::open(path).unwrap();
    let ledger: Value = serde_json::from_reader(flate2::read::MultiGzDecoder::new(file)).unwrap();
    let mut blocks = Vec::new();
    let folder = root.join("blocks-mainnet/contig-17686110-17686121");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".json.gz") {
            continue;
        }
        for block in files::open(&path).unwrap() {
            let mut block = block.unwrap();
            // The recording left them out; the ledger has them.
            let withdrawals = &ledger["blocks"][block.number.to_string()]["withdrawalsWei"];
            let gwei = |wei: &Value| wei.as_str().unwrap().parse::<u64>().unwrap() / 1_000_000_000;
            let withdrawal = |(address, wei): (&String, &Value)| Withdrawal {
                address: Some(address.parse().unwrap()),
                amount: Some(gwei(wei)),
                ..Withdrawal::default()
            };
            let list = withdrawals.as_object().unwrap().iter().map(withdrawal).collect();
            block.header.withdrawals = Some(list);
            let rows = &ledger["blocks"][block.number.to_string()]["balances"];
            let wei = |text: &Value| text.as_str().unwrap().parse::<U256>().unwrap();
            let row = |(account, pair): (&String, &Value)| {
                (account.parse().unwrap(), (wei(&pair[0]), wei(&pair[1])))
            };
            let balances = rows.as_object().unwrap().iter().map(row).collect();
            blocks.push((block, balances));
        }
    }
    assert_eq!(blocks.len(), 12);
    Some(blocks)
}

#[test]
fn recorded_blocks_explain_every_recorded_balance_and_no_changed_one_does() {
    let Some(blocks) = recorded() else { return };
    let eth = ChainTable::builtin().unwrap().get(ChainId(1)).unwrap().clone();
    let (mut proven, mut found) = (0, 0);
    for (block, balances) in &blocks {
        let verdict = |block: &Block, account: Address| {
            let (before, after) = balances.get(&account)?;
            Some(judge(*before, *after, explained(block, account, &eth).unwrap()))
        };
        for account in balances.keys() {
            assert_eq!(
                verdict(block, *account),
                Some(Verdict::Proven),
                "{} {account}",
                block.number
            );
            proven += 1;
        }
        // A few of each block: each is a copy of it.
        for changed in changed_transfers(block).into_iter().step_by(41) {
            let mut asked = 0;
            for account in changed.accounts {
                let Some(verdict) = verdict(&changed.block, account) else { continue };
                assert!(
                    matches!(verdict, Verdict::Mismatch(_)),
                    "{}: {}",
                    block.number,
                    changed.what
                );
                asked += 1;
            }
            found += asked;
        }
    }
    println!("{proven} balances are explained to the wei, {found} changed transfers found");
    assert!(proven > 2_500 && found > 100, "{proven} {found}");
}
