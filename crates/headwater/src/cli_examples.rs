//! What `--help` shows below the flags. A test reads every line back as a command.

pub const ALL: &str = "\
First steps:
  headwater demo                                            look around on a simulated chain
  headwater init --rpc eth=http://127.0.0.1:8545            write headwater.toml
  headwater doctor --config headwater.toml                  see whether it will work
  headwater serve --config headwater.toml                   read and answer";

pub const INIT: &str = "\
Examples:
  headwater init                                            asks
  headwater init --rpc eth=http://127.0.0.1:8545 --from-block eth=19000000
  headwater init --config /etc/headwater.toml --data /srv/headwater --rpc 31337=http://127.0.0.1:8545 --force";

pub const DOCTOR: &str = "\
Examples:
  headwater doctor --config headwater.toml
  headwater doctor --rpc eth=http://127.0.0.1:8545          before there is a configuration
  headwater doctor --config headwater.toml --json           for scripts; exits 1 where something is wrong";

pub const DEMO: &str = "\
Examples:
  headwater demo
  headwater demo --listen 127.0.0.1:9000 --blocks 2000 --seed 7
  headwater demo --as eth                                   for the official SDKs
  headwater demo --as eth --fixed                           as docs/operations has it";

pub const SERVE: &str = "\
Examples:
  headwater serve --config headwater.toml
  headwater serve --rpc eth=http://127.0.0.1:8545 --from-block eth=19000000
  headwater serve --config headwater.toml --role api        answer, but read nothing new
  headwater serve --config headwater.toml --role ingest     on a database (store.url): one of several processes";

pub const IMPORT: &str = "\
Examples:
  headwater import --chain eth blocks.jsonl.gz
  headwater import --chain eth --data /srv/headwater mainnet-00000.era1 mainnet-00001.era1";

pub const REDECODE: &str = "\
Examples:
  headwater redecode
  headwater redecode --chain eth --force";

pub const KEYS: &str = "\
Examples:
  headwater keys create --name website
  headwater keys list";

pub const KEYS_CREATE: &str = "\
Examples:
  headwater keys create                                     prints the key, once
  headwater keys create --admin --name operator
  headwater keys create --tenant shop --units-per-second 50 --deny-methods debug_*,trace_*";

pub const KEYS_LIST: &str = "\
Example:
  headwater keys list --config headwater.toml";

pub const KEYS_REVOKE: &str = "\
Example:
  headwater keys revoke 3f9a1c                              the id that `keys list` shows";

pub const CONFIG: &str = "\
Examples:
  headwater config check --config headwater.toml
  headwater config print";

pub const CONFIG_CHECK: &str = "\
Example:
  headwater config check --config headwater.toml            does not ask the nodes; `headwater doctor` does";

pub const CONFIG_PRINT: &str = "\
Examples:
  headwater config print                                    all defaults
  headwater config print --config headwater.toml";

pub const DIGEST: &str = "\
Example:
  headwater digest --chain eth --data /srv/headwater";

pub const AUDIT: &str = "\
Examples:
  headwater audit --chain eth --blocks 19000000-19000100
  headwater audit --chain eth --blocks 19000000 --sample 0 --json
  headwater audit --chain eth --blocks 19000000 --rpc eth=http://archive.example:8545";

pub const CHECK: &str = "\
Example:
  headwater check --data /srv/headwater                     while no server runs";

pub const REPAIR: &str = "\
Example:
  headwater repair --data /srv/headwater";

pub const BACKUP: &str = "\
Example:
  headwater backup --data /srv/headwater /backup/headwater-monday";

pub const RESTORE: &str = "\
Example:
  headwater restore --data /srv/headwater-new /backup/headwater-monday";

pub const MIGRATE: &str = "\
Examples:
  headwater migrate --config headwater.toml                 with store.url in it
  headwater migrate --config headwater.toml --citus         and over the workers of Citus";

pub const COPY: &str = "\
Examples:
  headwater copy --from /srv/headwater --to postgres://headwater@db.example/headwater
  headwater copy --from postgres://headwater@db.example/headwater --to /srv/headwater-new";

pub const STATUS: &str = "\
Example:
  headwater status --config headwater.toml";

pub const LISTEN: &str = "\
Examples:
  headwater listen --secret whsec_0123456789abcdef
  headwater listen --listen 127.0.0.1:9091 --fail 0.2 --quiet";

pub const COMPLETIONS: &str = "\
Examples:
  headwater completions bash > ~/.local/share/bash-completion/completions/headwater
  headwater completions zsh > ~/.zfunc/_headwater
  headwater completions fish > ~/.config/fish/completions/headwater.fish";

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::{Command, CommandFactory, Parser};

    /// Without what follows after two spaces, which is for people, and without what is the shell's.
    fn words(line: &str) -> Vec<&str> {
        let command = line.trim().split("  ").next().unwrap_or_default();
        command.split(" > ").next().unwrap_or_default().split_whitespace().collect()
    }

    fn check(command: &Command, path: &str) {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_else(|| panic!("{path} has no example"));
        let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(!examples.is_empty(), "{path} has no example");
        for line in examples {
            assert!(path == "headwater" || line.trim().starts_with(path), "{path}: {line}");
            if let Err(error) = Cli::try_parse_from(words(line)) {
                panic!("{line}: {error}");
            }
        }
        for below in command.get_subcommands() {
            check(below, &format!("{path} {}", below.get_name()));
        }
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        check(&Cli::command(), "headwater");
    }
}
