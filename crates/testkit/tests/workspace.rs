//! The workspace itself: which crate may use which, what is brought in from outside, how files begin.

#![expect(clippy::unwrap_used, reason = "what a test cannot read, it cannot judge")]

use std::path::{Path, PathBuf};

/// What each crate may use of the others, tests aside. `ARCHITECTURE.md` says why.
const ARROWS: [(&str, &[&str]); 15] = [
    ("model", &[]),
    ("tasks", &["model"]),
    ("plain_http", &[]),
    ("rpc", &["model", "plain_http", "tasks"]),
    ("verify", &["model"]),
    ("decode", &["model"]),
    ("store", &["model", "tasks"]),
    ("ingest", &["model", "tasks", "rpc", "verify", "decode", "store"]),
    ("gateway", &["model", "rpc", "verify", "store"]),
    ("streams", &["model", "plain_http", "tasks", "rpc", "store"]),
    ("api", &["model", "rpc", "store", "gateway", "streams"]),
    ("testkit", &["model"]),
    ("conformance", &[]),
    (
        "headwater",
        &[
            "model", "tasks", "rpc", "decode", "store", "ingest", "gateway", "streams", "api",
            "testkit",
        ],
    ),
    (
        "bench",
        &["model", "rpc", "decode", "store", "ingest", "gateway", "streams", "api", "testkit"],
    ),
];
/// Every package is something to build, to update and to trust.
const PACKAGES_MAX: usize = 420;
/// Where a file has grown past reading.
const LINES_MAX: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder(name: &str) -> PathBuf {
    if name == "bench" { root().join("bench") } else { root().join("crates").join(name) }
}

#[test]
fn crates_use_only_what_they_may() {
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(ARROWS.iter().any(|(known, _)| *known == name), "{name} has no arrows");
    }
    for (name, allowed) in ARROWS {
        let text = std::fs::read_to_string(folder(name).join("Cargo.toml")).unwrap();
        let section = text.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for line in section.lines() {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let is_ours = ARROWS.iter().any(|(known, _)| *known == dependency);
            assert!(!is_ours || allowed.contains(&dependency), "{name} must not use {dependency}");
        }
    }
}

#[test]
fn the_lock_file_stays_light() {
    let text = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let packages = text.lines().filter(|line| *line == "[[package]]").count();
    assert!(packages > 100, "{packages} packages: is this the lock file?");
    assert!(
        packages <= PACKAGES_MAX,
        "{packages} packages; `cargo tree -d` shows what is there twice"
    );
}

#[test]
fn every_dependency_has_a_reason() {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = text.split("[workspace.dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let mut is_explained = false;
    for line in section.lines().map(str::trim) {
        match line {
            "" => is_explained = false,
            line if line.starts_with('#') => is_explained = true,
            line => assert!(is_explained || line.contains(" # "), "no reason is given for: {line}"),
        }
    }
}

#[test]
fn every_file_says_what_it_holds_and_can_be_read() {
    let mut files = Vec::new();
    for (name, _) in ARROWS {
        collect(&folder(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not begin with //!", file.display());
        let lines = text.lines().count();
        let is_test = file.ends_with("tests.rs");
        assert!(is_test || lines <= LINES_MAX, "{} has {lines} lines", file.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
