//! Checks on real blocks where the fixtures are at hand.

use model::chain::Verification;
use model::proof::Level;

use super::*;

#[test]
fn real_mainnet_blocks_are_verified_with_every_sender() {
    let dir = std::path::Path::new("/work/shared/fixtures/blocks-mainnet");
    let rules = Rules { verification: Verification::Full, chain_id: 1, senders: Senders::All };
    let (mut n, mut bad) = (0, 0);
    for sub in
        ["contig-14000000-14000012", "contig-17686110-17686121", "single", "single-no-traces"]
    {
        for entry in std::fs::read_dir(dir.join(sub)).unwrap() {
            let path = entry.unwrap().path();
            for block in crate::source::files::open(&path).unwrap() {
                n += 1;
                let block = block.unwrap();
                match verify(&block, &rules) {
                    Ok(p) if p.level() == Level::Verified => {}
                    other => {
                        bad += 1;
                        println!("{path:?} {other:?}");
                    }
                }
            }
        }
    }
    println!("{n} blocks");
    assert_eq!(bad, 0);
}

#[test]
fn multichain() {
    let dir = std::path::Path::new("/work/shared/fixtures/blocks-multichain");
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_str().unwrap().ends_with(".gz") {
            continue;
        }
        for block in crate::source::files::open(&path).unwrap() {
            let block = block.unwrap();
            let rules =
                Rules { verification: Verification::Lenient, chain_id: 1, senders: Senders::All };
            match verify(&block, &rules) {
                Ok(p) => println!(
                    "{:?} {:?} {:?}",
                    path.file_name().unwrap(),
                    p.level(),
                    p.names().collect::<Vec<_>>()
                ),
                Err(e) => println!("LIE {path:?} {e}"),
            }
        }
    }
}
