//! The fixture folder is found, or its absence is told.

use testkit::fixtures::{fixtures_dir, skip};

#[test]
fn the_folder_holds_what_it_should() {
    match fixtures_dir() {
        Some(dir) => assert!(dir.join("blocks-mainnet").is_dir()),
        None => skip("the_folder_holds_what_it_should"),
    }
}
