//! The unit and the compose file say what the binary takes.

use std::path::{Path, PathBuf};

use crate::process::{run, text};

const ROLES: [&str; 4] = ["ingest", "streams", "api", "gateway"];

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/cluster");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A command as the binary would be started with, up to where it finds that there is no such database: what it does not
/// take it says before.
fn is_taken(words: &[String], folder: &Path) {
    let config = folder.join("headwater.toml");
    std::fs::write(&config, "[store]\nurl = \"postgres://nobody@127.0.0.1:1/x?sslmode=odd\"\n")
        .unwrap();
    let data: PathBuf = folder.join("data");
    let mut args: Vec<String> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        args.push(word.clone());
        match word.as_str() {
            "--config" => args.push(config.display().to_string()),
            "--data" => args.push(data.display().to_string()),
            _ => continue,
        }
        words.next();
    }
    if !args.contains(&"--config".to_owned()) {
        args.extend(["--config".to_owned(), config.display().to_string()]);
    }
    let ended = run(&args);
    let said = text(&ended.stderr);
    assert!(said.contains("read store.url"), "{args:?}: {said}");
}

#[test]
fn the_unit_starts_every_role() {
    let (unit, folder) = (read("headwater@.service"), tempfile::tempdir().unwrap());
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    for role in ROLES {
        assert!(unit.contains(&format!("headwater@{role}")), "{role} is not named");
        let line = start.replace("%i", role);
        let words: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
        assert!(words.ends_with(&["--role".to_owned(), role.to_owned()]), "{words:?}");
        is_taken(&words, folder.path());
    }
    let state = unit.lines().find_map(|line| line.strip_prefix("StateDirectory=")).unwrap();
    assert!(start.contains(&format!("--data /var/lib/{state} ")), "{start}");
}

#[test]
fn the_compose_file_starts_every_role_with_settings_that_there_are() {
    let (compose, folder) = (read("compose.yml"), tempfile::tempdir().unwrap());
    let commands = compose.lines().filter_map(|line| line.trim().strip_prefix("command: "));
    let commands: Vec<Vec<String>> = commands
        .map(|list| serde_json::from_str::<Vec<String>>(list).unwrap())
        .map(|words| {
            words.iter().map(|it| it.replace("${ETH_RPC:?set it}", "http://node:8545")).collect()
        })
        .collect();
    let roles: Vec<&str> = commands
        .iter()
        .map(|words| words.iter().skip_while(|it| *it != "--role").nth(1).unwrap().as_str())
        .collect();
    let mut sorted = roles.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["api", "gateway", "ingest", "streams"]);
    for words in &commands {
        is_taken(words, folder.path());
    }
    let shown = text(&run(["config", "print", "--data", folder.path().to_str().unwrap()]).stdout);
    for line in compose.lines().map(str::trim).filter(|line| line.starts_with("HEADWATER__")) {
        let name = line.split(':').next().unwrap().trim_start_matches("HEADWATER__");
        let (section, key) = name.split_once("__").unwrap();
        let section = format!("[{}]", section.to_lowercase());
        let rest = shown.split_once(&section).unwrap_or_else(|| panic!("no {section}: {shown}")).1;
        let rest = rest.split("\n[").next().unwrap();
        assert!(rest.contains(&format!("\n{} =", key.to_lowercase())), "{name}: {rest}");
    }
}
