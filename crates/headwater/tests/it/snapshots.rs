//! Whole answers, compared as text with what is written down in `snapshots/`.
//!
//! `HEADWATER_REWRITE_SNAPSHOTS=1` writes them anew; look at the difference before you keep it.

use std::path::Path;

use crate::world::{CHAIN, Imported};

#[tokio::test(flavor = "multi_thread")]
async fn answers_read_as_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.csv");
    let whale = crate::records::chain(0).address_of("whale").unwrap();
    std::fs::write(&labels, format!("address,label,entity,logo\n{whale},\"A \"\"whale\"\"\",Acme,https://acme.example/logo.png\n")).unwrap();
    let world = Imported::with(6, |serve| serve.set("api.labels", &format!("[{labels:?}]")));
    let (exchange, whale) = (world.address("exchange"), format!("{whale:#x}"));
    let inner = world.address("internal-only");
    let hash = format!("{:#x}", world.chain.block(2).unwrap().hash);
    for profile in ["spec", "live"] {
        for (name, address, query) in [
            ("wallet", &whale, "limit=2&to_block=5"),
            ("wallet-internal", &inner, "limit=1&include=internal_transactions"),
            ("wallet-empty", &exchange, "from_block=7"),
        ] {
            let path = format!("/api/v2.2/{address}?chain={CHAIN}&{query}");
            let answer = world.client.get_with(&path, &[("x-wire-profile", profile)]).await;
            compare(&format!("{name}.{profile}"), &answer.body);
        }
    }
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByHash","params":["{hash}",false]}}"#
    );
    compare("block-by-hash", &world.client.rpc_text(CHAIN, body).await.body);
    let body = r#"{"jsonrpc":"2.0","id":"7","method":"eth_getTransactionByBlockNumberAndIndex","params":["0x2","0x0"]}"#;
    compare("transaction-by-place", &world.client.rpc_text(CHAIN, body.into()).await.body);
    compare("block-status", &world.client.get(&format!("/status/{CHAIN}/blocks/2")).await.body);
}

fn compare(name: &str, json: &str) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/snapshots/{name}.json"));
    let text = laid_out(&without_cursor(json));
    if std::env::var_os("HEADWATER_REWRITE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == written, "{} differs; got:\n{text}\nwritten:\n{written}", path.display());
}

/// A cursor is sealed with a secret of the installation and the time, so it is never the same.
fn without_cursor(json: &str) -> String {
    let Some((before, rest)) = json.split_once("\"cursor\":\"") else { return json.to_owned() };
    let (cursor, after) = rest.split_once('"').unwrap();
    let shown = if cursor.is_empty() { "" } else { "(a cursor)" };
    format!("{before}\"cursor\":\"{shown}\"{after}")
}

/// One field a line. Works on the text: a parser would change the order of fields and the digits
/// of large numbers, and both are to be seen.
fn laid_out(json: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    let mut rest = json.chars().peekable();
    while let Some(sign) = rest.next() {
        if in_text {
            in_text = escaped || sign != '"';
            escaped = sign == '\\' && !escaped;
            out.push(sign);
            continue;
        }
        in_text = sign == '"';
        match sign {
            '{' | '[' if matches!(rest.peek(), Some('}' | ']')) => out.push(sign),
            '{' | '[' => {
                depth += 1;
                out.push(sign);
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                if !out.ends_with(['{', '[']) {
                    depth -= 1;
                    new_line(&mut out, depth);
                }
                out.push(sign);
            }
            ',' => {
                out.push(sign);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(sign),
        }
    }
    out.push('\n');
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
