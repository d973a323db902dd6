//! The files of `ops/`, as tests need them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops")
}

pub fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// The names of all alerts.
pub fn names(rules: &str) -> BTreeSet<&str> {
    rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect()
}

/// The same rules with a second for every minute: in `for:` and in every range.
pub fn a_second_for_a_minute(rules: &str) -> String {
    let mut fast = String::new();
    for line in rules.lines() {
        let line = match line.trim().strip_prefix("for: ") {
            Some(length) => line.replace(length, &seconds(length)),
            None => ranges(line),
        };
        fast += &line;
        fast.push('\n');
    }
    fast
}

fn ranges(line: &str) -> String {
    let mut parts = line.split('[');
    let mut fast = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A list of YAML is no range.
        match part.split_once(']') {
            Some((length, rest)) if is_duration(length) => {
                fast += &format!("[{}]{rest}", seconds(length));
            }
            _ => fast += &format!("[{part}"),
        }
    }
    fast
}

fn is_duration(text: &str) -> bool {
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    digits.len() + 1 == text.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn seconds(length: &str) -> String {
    let (count, unit) = length.split_at(length.len() - 1);
    let count: u64 = count.parse().unwrap();
    match unit {
        "m" => format!("{count}s"),
        "h" => format!("{}s", count * 60),
        _ => panic!("{length} is neither in minutes nor in hours"),
    }
}

#[test]
fn only_durations_are_made_faster() {
    let slow = "rule_files: [alerts.yml]\n expr: rate(x{a=~\"[0-9]m\"}[10m]) / rate(y[6h]) > 5\n for: 2m\n";
    let fast = "rule_files: [alerts.yml]\n expr: rate(x{a=~\"[0-9]m\"}[10s]) / rate(y[360s]) > 5\n for: 2s\n";
    assert_eq!(a_second_for_a_minute(slow), fast);
}

/// One question of the dashboard.
pub struct Asked {
    pub title: String,
    /// Variables stand for all.
    pub expression: String,
    /// Labels that the legend names.
    pub labels: Vec<String>,
}

pub fn dashboard() -> Vec<Asked> {
    let dashboard: Value = serde_json::from_str(&text("grafana/headwater.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = |panel: &Value| panel["targets"].as_array().cloned().unwrap_or_default();
    let asked = panels.iter().flat_map(|panel| {
        let title = panel["title"].as_str().unwrap();
        targets(panel).into_iter().map(move |target| of_target(title, &target))
    });
    asked.collect()
}

fn of_target(title: &str, target: &Value) -> Asked {
    let expression = target["expr"].as_str().unwrap();
    let expression = expression
        .replace("$instance", ".*")
        .replace("$chain", ".*")
        .replace("$__rate_interval", "1m");
    assert!(!expression.contains('$'), "{title}: a variable that is not known: {expression}");
    let legend = target["legendFormat"].as_str().unwrap();
    let label = |part: &str| part.split("}}").next().unwrap().trim().to_owned();
    let labels = legend.split("{{").skip(1).map(label).collect();
    Asked { title: title.to_owned(), expression, labels }
}
