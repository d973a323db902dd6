//! JavaScript reads a body and writes the very same bytes: receivers check signatures over that.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::edits::{hostile, hostile_body};
use super::head;
use crate::matching::tests::made_block::{A, COIN};
use crate::matching::tests::needs::{matched, token, trigger};
use crate::matching::tests::plans::logs;
use crate::payload::{confirmed, retracted, test_body, with_retries, write_parts};

const SCRIPT: &str = r"
const lines = require('fs').readFileSync(0, 'utf8').split('\n').slice(0, -1);
lines.forEach((line, n) => {
  if (JSON.stringify(JSON.parse(line)) !== line) { console.log('line ' + n + ': ' + line); process.exit(1); }
});
console.log('same ' + lines.length);
";

#[test]
fn javascript_writes_what_it_read() {
    let mut bodies = vec![test_body()];
    let mut runner = TestRunner::deterministic();
    let mut text = || hostile().new_tree(&mut runner).unwrap().current();
    for n in 0..500u32 {
        let body = hostile_body(&text(), &text(), &text());
        bodies.extend([confirmed(&body), retracted(&body), with_retries(&body, n), body]);
    }
    for (name, decimals) in [("ünï 中\"\\", None), ("0", Some(0)), ("\u{7f}", Some(255))] {
        bodies.push(answered(name, decimals));
    }
    // A body has no line end in it: control characters are escaped.
    assert!(bodies.iter().all(|body| !body.contains(&b'\n')));
    let Some(said) = node(&bodies) else {
        eprintln!("SKIPPED: bodies in JavaScript: node not found");
        return;
    };
    assert_eq!(said.trim(), format!("same {}", bodies.len()));
}

/// With answers of triggers of every form.
fn answered(name: &str, decimals: Option<u8>) -> bytes::Bytes {
    let definition = crate::definition::Definition {
        triggers: vec![trigger("erc20transfer", "$contract", "$from", "address")],
        ..logs()
    };
    let mut items = matched(definition, &[A]).items;
    items.fill_tokens([(COIN, token(name, decimals))]);
    let value =
        json!({"10": 1.5e300, "2": u64::MAX, "__proto__": {"x": [name, -1, null]}, "b": {}});
    items.erc20_transfers[0].triggers.set(0, Ok(vec![(name.to_owned(), value)]));
    items.erc20_transfers[1].triggers.set(0, Err(name.to_owned()));
    let abi = None;
    write_parts(&head(name, &abi), &items, usize::MAX).remove(0).1
}

fn node(bodies: &[bytes::Bytes]) -> Option<String> {
    let mut child = Command::new("node")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    for body in bodies {
        input.write_all(body).unwrap();
        input.write_all(b"\n").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
