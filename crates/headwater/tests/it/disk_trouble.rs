//! A damaged data folder, as its operator meets it: what is said, and what `check` and `repair` do.

use std::path::{Path, PathBuf};

use crate::process::{import, run, run_well, text};
use crate::records::{self, Traces};
use crate::world::CHAIN;

fn log_of(data: &Path) -> PathBuf {
    let entries = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "jnl")).max().unwrap()
}

#[test]
fn a_log_that_lost_bytes_is_named_and_repaired_with_a_list_of_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let at = data.to_str().unwrap();
    let chain = records::chain(8);
    import(&data, CHAIN, &[records::write(folder.path(), &chain, 0..=8, Traces::Geth)]);
    let good = run_well(["check", "--data", at]);
    assert!(good.ends_with("everything holds\n"), "{good}");
    assert!(good.contains("transactions of wallets"), "{good}");
    let digest = run_well(["digest", "--chain", CHAIN, "--data", at]);
    assert!(run_well(["repair", "--data", at]).starts_with("nothing had to be repaired"));
    assert_eq!(run_well(["digest", "--chain", CHAIN, "--data", at]), digest);

    // One bit of a length in the middle: the engine alone would take it for the end.
    let log = log_of(&data);
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.iter().rposition(|byte| *byte != 0).unwrap() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&log, &bytes).unwrap();
    for command in ["check", "digest", "serve", "keys"] {
        let args: &[&str] = match command {
            "digest" => &["digest", "--chain", CHAIN, "--data", at],
            "keys" => &["keys", "list", "--data", at],
            other => &[other, "--data", at],
        };
        let output = run(args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {told}");
        assert!(told.contains(log.to_str().unwrap()), "{command}: {told}");
        assert!(told.contains("headwater repair"), "{command}: {told}");
    }
    assert_eq!(std::fs::read(&log).unwrap(), bytes, "nothing was changed");

    let repaired = run_well(["repair", "--data", at]);
    assert!(repaired.contains("is broken at byte"), "{repaired}");
    assert!(repaired.contains("kept as ") && repaired.contains(".jnl.damaged"), "{repaired}");
    assert!(repaired.contains("the newest block was 8, and is "), "{repaired}");
    assert!(repaired.ends_with("everything holds\n"), "{repaired}");
    run_well(["check", "--data", at]);
    // What is missing comes again.
    import(&data, CHAIN, &[records::write(folder.path(), &chain, 0..=8, Traces::Geth)]);
    assert_eq!(run_well(["digest", "--chain", CHAIN, "--data", at]), digest);
}

#[test]
fn commands_that_only_look_make_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("mistyped");
    let at = data.to_str().unwrap();
    let commands: [&[&str]; 5] = [
        &["digest", "--chain", CHAIN, "--data", at],
        &["check", "--data", at],
        &["repair", "--data", at],
        &["keys", "list", "--data", at],
        &["redecode", "--data", at],
    ];
    for args in commands {
        let output = run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains(at), "{args:?}: {}", text(&output.stderr));
        assert!(!data.exists(), "{args:?}");
    }
}
