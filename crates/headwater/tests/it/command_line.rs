//! Commands that run and end: what they print, and how they fail.

use crate::process::{run, run_well, text};
use crate::records::{self, Traces};
use crate::world::CHAIN;

#[test]
fn config_check_and_print_show_the_merged_settings_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headwater.toml");
    let file = file.to_str().unwrap();
    std::fs::write(file, "[api]\nlimit_max = 50\nlimit_default = 7\n[streams]\nsecret_key = \"hush-on-disk\"\n[chains.eth]\nupstreams = [\"https://node.example/v3/hush-in-path\"]\n").unwrap();
    assert_eq!(run_well(["config", "check", "--config", file]), "the configuration is good\n");
    let printed = run_well([
        "config",
        "print",
        "--config",
        file,
        "--rpc",
        "polygon=wss://user:hush@two.example",
    ]);
    let table: toml::Table = printed.parse().unwrap();
    assert_eq!(table["api"]["limit_max"].as_integer(), Some(50));
    assert_eq!(table["api"]["cors"].as_bool(), Some(true));
    assert_eq!(table["auth"]["bootstrap_key"].as_str(), Some("(hidden)"));
    assert_eq!(table["streams"]["secret_key"].as_str(), Some("(hidden)"));
    for shown in ["node.example", "two.example"] {
        assert!(printed.contains(shown), "{printed}");
    }
    assert!(!printed.contains("hush") && !printed.contains(crate::process::KEY), "{printed}");
}

/// What is refused by `config check` is refused by `serve`, in the same words.
fn is_refused(content: &str, says: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headwater.toml");
    let file = file.to_str().unwrap();
    std::fs::write(file, content).unwrap();
    let output = run(["config", "check", "--config", file]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{content}");
    assert!(told.starts_with("headwater: ") && told.contains(says), "{content}: {told}");
    assert!(!told.contains("geheim"), "{content}: {told}");
    let data = folder.path().join("data");
    let serve = run(["serve", "--config", file, "--data", data.to_str().unwrap()]);
    assert_eq!((serve.status.code(), text(&serve.stderr)), (Some(1), told), "{content}");
}

#[test]
fn a_configuration_that_makes_no_sense_is_refused_with_the_reason() {
    for (content, says) in [
        ("[api]\nlimit_maximum = 5", "limit_maximum"),
        ("[api]\nlimit_default = 0", "api.limit_default (0)"),
        ("[store]\nmemory_bytes = 1048576", "store.memory_bytes (1048576)"),
        ("[ingest]\naudit = 601", "ingest.audit (601)"),
        ("[api", "headwater.toml"),
        ("[listen]\nall = \"localhost:80\"", "listen address 'localhost:80'"),
        ("[api]\nwire_profile = \"geheim\"", "line 2, key api.wire_profile: unknown variant"),
        ("[auth]\nbootstrap_key = geheim", "line 2, column"),
        ("[api]\nlimit_maxx = 3", "headwater.toml, line 2, key api.limit_maxx: unknown field"),
        ("[log]\nfilter = \"a=b=c\"", "log.filter 'a=b=c' is not a filter"),
        ("[listen]\nall = \"\"", "listen.all is empty"),
        ("[listen]\nrpc = \"127.0.0.1:8080\"", "is the port of listen.all already"),
        ("[listen]\nadmin = \"nowhere\"", "listen.admin"),
        ("[streams]\ntimeout_ms = 0", "streams.timeout_ms must be at least 1"),
        ("[streams]\nallow_private_targets = [\"10.0.0.0/99\"]", "'10.0.0.0/99' is no network"),
        ("[listen]\nidle_timeout_ms = 0", "listen.idle_timeout_ms (0) must be at least 1"),
        ("[rpc]\ntimeout_ms = 0", "rpc.timeout_ms must be at least 1"),
        ("[rpc]\nresponse_bytes_max = 0", "rpc.response_bytes_max must be at least 1"),
        (
            "[rpc]\ningest_bytes_in_flight_max = 0",
            "rpc.ingest_bytes_in_flight_max must be at least 1",
        ),
        ("[store]\ncommit_stall_s = 0", "store.commit_stall_s must be at least 1"),
        ("[price]\ntoken_lists = [\"/no/such/list.json\"]", "/no/such/list.json"),
        ("[api]\nlabels = [\"/no/such/labels.csv\"]", "labels file /no/such/labels.csv"),
        (
            "[api]\nverified_collections = [\"/no/such/verified.csv\"]",
            "verified collections file /no/such/verified.csv",
        ),
        ("[streams]\nspam = [\"/no/such/spam.csv\"]", "spam contracts file /no/such/spam.csv"),
    ] {
        is_refused(content, says);
    }
    let missing = run(["config", "check", "--config", "/no/such/file.toml"]);
    assert!(
        text(&missing.stderr).contains("cannot read the configuration file /no/such/file.toml")
    );
}

#[test]
fn chains_that_make_no_sense_are_refused_with_the_reason() {
    for (content, says) in [
        ("[chains.nowhere]\n", "chain 'nowhere' is not built in"),
        ("[chains.mine]\nid = 1", "id 1 is `eth` already"),
        ("[chains.mine]\nid = 77\ncontracts_of = \"nowhere\"", "contracts_of names 'nowhere'"),
        (
            "[chains.eth]\nupstreams = [\"http://n\", \"geheim\"]",
            "chain 'eth': upstream 2 of the list",
        ),
        (
            "[chains.eth]\nupstreams = [{ url = 5 }]",
            "headwater.toml, line 2, key chains.eth.upstreams.url",
        ),
        ("[chains.eth]\n[chains.ethereum]", "chains.eth and chains.ethereum are the same chain, 1"),
        ("[chains.eth]\nupstreams = [\"ftp://node/geheim\"]", "must start with http://"),
        (
            "[chains.eth]\nupstreams = [{ url = \"http://n\", headers = { x = \"geheim\\n\" } }]",
            "header x has a value that HTTP does not allow",
        ),
        (
            "[chains.eth]\nupstreams = [{ url = \"http://n\", headers = { \"Bearer geheim\" = \"x\" } }]",
            "the name of a header is none that HTTP allows",
        ),
        (
            "[chains.eth]\nupstreams = [{ url = \"http://n\", ws_url = \"http://n/geheim\" }]",
            "the WebSocket URL must start with ws://",
        ),
        (
            "[chains.eth]\nupstreams = [{ url = \"http://n\", timeout_ms = 0 }]",
            "chains.eth.upstreams: timeout_ms must be at least 1",
        ),
    ] {
        is_refused(content, says);
    }
}

#[test]
fn a_labels_file_with_a_mistake_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.csv");
    std::fs::write(&labels, format!("address,label\n0x{},one\n0x12,two\n", "11".repeat(20)))
        .unwrap();
    let file = folder.path().join("headwater.toml");
    std::fs::write(&file, format!("[api]\nlabels = [{labels:?}]\n")).unwrap();
    let told = text(&run(["config", "check", "--config", file.to_str().unwrap()]).stderr);
    assert!(told.contains("labels.csv, line 3: '0x12' is not an address"), "{told}");
}

#[test]
fn an_import_takes_what_is_good_and_names_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let chain = records::chain(6);
    let good = records::write(folder.path(), &chain, 0..=3, Traces::Geth);
    let lying = records::write(folder.path(), &chain, 4..=5, Traces::Geth);
    let lie = std::fs::read_to_string(&lying).unwrap().replacen(
        "\"gasUsed\":\"0x",
        "\"gasUsed\":\"0x1",
        1,
    );
    std::fs::write(&lying, lie).unwrap();
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"block\":").unwrap();
    let other = folder.path().join("picture.png");
    std::fs::write(&other, "").unwrap();
    let mut args =
        vec!["import", "--chain", CHAIN, "--data", data.to_str().unwrap(), "/no/such/file.json"];
    args.extend([&good, &lying, &broken, &other].map(|path| path.to_str().unwrap()));
    let output = run(args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "something was refused: {out}{err}");
    assert!(out.starts_with("imported 5 blocks"), "{out}{err}");
    assert!(out.contains("5 verified") && out.contains("4 refused"), "{out}{err}");
    for name in ["blocks-4-5.jsonl", "broken.json", "picture.png", "/no/such/file.json"] {
        assert!(
            err.lines().any(|line| line.starts_with("refused: ") && line.contains(name)),
            "{name}: {err}"
        );
    }
    // Again, and nothing happens twice.
    let again = run_well([
        "import",
        "--chain",
        CHAIN,
        "--data",
        data.to_str().unwrap(),
        good.to_str().unwrap(),
    ]);
    assert!(again.contains("0 refused"), "{again}");
}

#[test]
fn the_same_blocks_in_any_order_have_the_same_digest() {
    let folder = tempfile::tempdir().unwrap();
    let chain = records::chain(8);
    let whole = records::write(folder.path(), &chain, 0..=8, Traces::Parity);
    let digest = |name: &str, files: &[std::path::PathBuf]| {
        let data = folder.path().join(name);
        crate::process::import(&data, CHAIN, files);
        run_well(["digest", "--chain", CHAIN, "--data", data.to_str().unwrap()])
    };
    let parts = [5..=8, 0..=2, 3..=4]
        .map(|blocks| records::write(folder.path(), &chain, blocks, Traces::Parity));
    let one = digest("one", &[whole]);
    assert!(one.trim_end().ends_with(" 0-8"), "{one}");
    assert_eq!(one, digest("two", &parts), "whatever the order they came in");
}
