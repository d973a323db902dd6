//! The configuration file that `headwater init` writes: what was chosen, and beside it, as comments, what people
//! change next.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What the flags or the questions said.
pub struct Answers {
    pub nodes: Vec<Node>,
    /// Chain and block.
    pub from_block: Vec<(String, u64)>,
    pub data: String,
    pub listen: String,
}

pub struct Node {
    pub chain: String,
    pub url: String,
    pub ws_url: Option<String>,
}

impl Default for Answers {
    fn default() -> Self {
        Answers {
            nodes: Vec::new(),
            from_block: Vec::new(),
            data: "headwater-data".to_owned(),
            listen: "127.0.0.1:8080".to_owned(),
        }
    }
}

const HEAD: &str = "\
# Headwater's configuration, written by `headwater init`. What is not set here has its default; `headwater config print`
# shows all settings as they are in force. Every one can also be set by a variable: HEADWATER__API__LIMIT_MAX=100.
# Node URLs may hold keys: this file is readable by its owner alone.
";

const AFTER_LISTEN: &str = "\
# Everything is served there: data API, node RPC, streams, admin surface, console. To give one its own:
# admin = \"127.0.0.1:8081\"
# Proxies in front, whose X-Forwarded-For is believed:
# trusted_proxies = [\"10.0.0.0/8\"]
";

const AFTER_STORE: &str = "\
# Warn when the store takes more than this on disk (here 500 GiB):
# disk_budget_bytes = 536_870_912_000
";

const AUTH: &str = "
[auth]
# Keys are made with `headwater keys create`. Who may see /status and /metrics: \"open\", or \"key\" for admins alone.
status = \"open\"

[streams]
# Seals webhook secrets on disk (`openssl rand -hex 32`):
# secret_key = \"\"
# Receivers in your own network must be allowed:
# allow_private_targets = [\"10.1.0.0/16\"]
";

pub fn text(answers: &Answers) -> String {
    let mut text = HEAD.to_owned();
    let (listen, data) = (quoted(&answers.listen), quoted(&answers.data));
    // Writing into a text cannot fail.
    let _ = write!(text, "\n[listen]\nall = {listen}\n{AFTER_LISTEN}");
    let _ = write!(text, "\n[store]\npath = {data}\n{AFTER_STORE}{AUTH}");
    let mut chains: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for node in &answers.nodes {
        chains.entry(&node.chain).or_default().push(node);
    }
    for (chain, nodes) in chains {
        let from = answers.from_block.iter().rev().find(|(name, _)| name == chain);
        text.push_str(&section(chain, &nodes, from.map_or(0, |(_, block)| *block)));
    }
    text
}

fn section(chain: &str, nodes: &[&Node], from_block: u64) -> String {
    let mut text = format!("\n[chains.{}]\nupstreams = [\n", key(chain));
    for node in nodes {
        let url = quoted(&node.url);
        let line = match &node.ws_url {
            Some(socket) => format!("    {{ url = {url}, ws_url = {} }},\n", quoted(socket)),
            None => format!("    {url},\n"),
        };
        text.push_str(&line);
    }
    let _ = write!(
        text,
        "]\n# The head is followed at once, and history filled backwards to this block.\nfrom_block = {from_block}\n\
         # Keep the newest blocks only (at least 128):\n# retain_blocks = 1_000_000\n"
    );
    text
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A name with other characters than plain ones has to be quoted.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.chars().all(is_plain) { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_is_in_the_file_whatever_characters_it_has() {
        let node = |chain: &str, url: &str| Node {
            chain: chain.into(),
            url: url.into(),
            ws_url: Some("ws://b".into()),
        };
        let answers = Answers {
            nodes: vec![
                node("eth", "http://a/\"x\\"),
                node("eth", "http://b"),
                node("a.b", "http://c"),
            ],
            from_block: vec![("eth".into(), 1), ("eth".into(), 9)],
            data: "/srv/\"odd\" folder".into(),
            ..Answers::default()
        };
        let table: toml::Table = text(&answers).parse().unwrap();
        assert_eq!(table["store"]["path"].as_str(), Some("/srv/\"odd\" folder"));
        let eth = &table["chains"]["eth"];
        assert_eq!(eth["from_block"].as_integer(), Some(9), "the last word counts");
        assert_eq!(eth["upstreams"][0]["url"].as_str(), Some("http://a/\"x\\"));
        assert_eq!(eth["upstreams"].as_array().unwrap().len(), 2);
        assert_eq!(table["chains"]["a.b"]["upstreams"][0]["ws_url"].as_str(), Some("ws://b"));
    }

    #[test]
    fn what_stands_as_a_comment_can_be_switched_on() {
        let all: String = text(&Answers::default())
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(setting) if setting.contains(" = ") => format!("{setting}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let table: toml::Table = all.parse().unwrap();
        assert_eq!(table["listen"]["admin"].as_str(), Some("127.0.0.1:8081"));
        let settings = toml::to_string(&table).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("headwater.toml");
        std::fs::write(&file, settings).unwrap();
        let flags = crate::config::Flags { config: Some(file), ..Default::default() };
        crate::config::Settings::load_with(&flags, std::iter::empty()).unwrap();
    }
}
