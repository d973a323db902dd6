//! `headwater audit`: for accounts of stored blocks, the balance before and after as nodes prove it must be what
//! the block explains. Where a server runs on the data folder, it does the asking.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use ingest::audit::{Auditor, PROOFS_WITHIN};
use serde_json::{Value, json};

use super::run_async;
use crate::admin::{Client, StoreAccess};
use crate::cli::AuditArgs;
use crate::config::{Flags, Settings, find_or_make, table};
use crate::progress_bar::Bar;
use crate::server::chains;
use crate::{say, telemetry};

/// Contradictions shown one by one; the rest is counted. JSON has them all.
const SHOWN_MAX: usize = 20;

pub fn run(args: &AuditArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(args))?;
    telemetry::logs(&settings.log)?;
    let (from, to) = range(&args.blocks)?;
    let report = run_async(async {
        let asking = Asking::new(&settings, args).await?;
        let bar = Bar::new("audit", to - from + 1);
        let mut report = Report::default();
        for number in from..=to {
            let block = asking.audit(number, args.sample).await;
            report.add(number, block.with_context(|| format!("block {number}"))?);
            bar.add(1, 0);
        }
        bar.finish();
        Ok(report)
    })?;
    if args.json {
        say(&report.json().to_string())?;
    } else {
        report.tell()?;
    }
    Ok(if report.mismatches.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `100-200`, or one number.
fn range(text: &str) -> Result<(u64, u64)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let number = |part: &str| {
        let parsed = part.trim().replace('_', "").parse::<u64>();
        parsed.with_context(|| format!("--blocks '{text}' is not of the form A-B"))
    };
    let (from, to) = (number(from)?, number(to)?);
    ensure!(from <= to, "--blocks '{text}': the first block is after the last");
    ensure!(to < u64::MAX, "--blocks '{text}': there is no such block");
    Ok((from, to))
}

/// Who audits.
enum Asking {
    Server { client: Client, chain: String },
    Here(Box<Auditor>),
}

impl Asking {
    async fn new(settings: &Settings, args: &AuditArgs) -> Result<Self> {
        let (table, chain) = find_or_make(table(settings)?, &args.chain)?;
        let store = match StoreAccess::to_existing(settings).await? {
            StoreAccess::Server(client) => {
                return Ok(Asking::Server { client, chain: chain.slug });
            }
            StoreAccess::Store(store) => store,
        };
        let is_it = |name: &str| chains::find(&table, name).is_ok_and(|it| it.id == chain.id);
        let section = settings.chains.iter().find(|(name, _)| is_it(name));
        let section = section.map(|(_, section)| section);
        let section =
            section.filter(|section| !section.upstreams.is_empty()).with_context(|| {
                format!(
                    "no node of {} is known; give one with --rpc {}=URL",
                    chain.slug, args.chain
                )
            })?;
        let pool = chains::start_pool(&chain, section, settings)?;
        Ok(Asking::Here(Box::new(Auditor::new(store, pool, Arc::new(chain), PROOFS_WITHIN))))
    }

    async fn audit(&self, number: u64, sample: usize) -> Result<Value> {
        match self {
            Asking::Server { client, chain } => {
                let path = format!("/admin/v1/audit/{chain}/{number}");
                client.post(&path, &json!({ "sample": sample })).await
            }
            Asking::Here(auditor) => {
                let sample = Some(sample).filter(|sample| *sample > 0);
                Ok(serde_json::to_value(auditor.audit(number, sample).await?)?)
            }
        }
    }
}

#[derive(Default)]
struct Report {
    blocks: Vec<Value>,
    /// Blocks of which at least one account was proven.
    blocks_proven: u64,
    proven: u64,
    mismatches: Vec<String>,
    /// Why others are neither, and how often.
    reasons: BTreeMap<String, u64>,
}

impl Report {
    fn add(&mut self, number: u64, block: Value) {
        let text = |value: &Value, field: &str| {
            value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        if let Some(reason) = block.get("skipped").and_then(Value::as_str) {
            *self.reasons.entry(format!("block not audited: {reason}")).or_default() += 1;
        }
        let before = self.proven;
        for audit in block.get("audits").and_then(Value::as_array).into_iter().flatten() {
            match text(audit, "verdict").as_str() {
                "proven" => self.proven += 1,
                "mismatch" => {
                    let wei = |field: &str| text(audit, field);
                    self.mismatches.push(format!(
                        "block {number}, {}: {} wei before, {} after; the block explains {} received, {} spent",
                        text(audit, "account"), wei("before"), wei("after"), wei("received"), wei("spent"),
                    ));
                }
                verdict => {
                    let reason = format!("{verdict}: {}", text(audit, "reason"));
                    *self.reasons.entry(reason).or_default() += 1;
                }
            }
        }
        self.blocks_proven += u64::from(self.proven > before);
        self.blocks.push(block);
    }

    fn json(&self) -> Value {
        json!({
            "blocks": self.blocks,
            "blocks_with_proven_accounts": self.blocks_proven,
            "proven": self.proven,
            "mismatches": self.mismatches.len(),
            "not_audited": self.reasons,
        })
    }

    fn tell(&self) -> Result<()> {
        for line in self.mismatches.iter().take(SHOWN_MAX) {
            say(&format!("DOES NOT HOLD: {line}"))?;
        }
        let more = self.mismatches.len().saturating_sub(SHOWN_MAX);
        if more > 0 {
            say(&format!("DOES NOT HOLD: {more} more"))?;
        }
        for (reason, count) in &self.reasons {
            say(&format!("not audited, {count} times: {reason}"))?;
        }
        say(&format!(
            "{} pairs of account and block are proven, in {} of {} blocks; {} contradict what is stored",
            self.proven,
            self.blocks_proven,
            self.blocks.len(),
            self.mismatches.len(),
        ))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_a_range_or_one_number() {
        assert_eq!(range("7").unwrap(), (7, 7));
        assert_eq!(range("7-9").unwrap(), (7, 9));
        assert_eq!(range("1_000 - 2_000").unwrap(), (1_000, 2_000));
        for wrong in ["", "-", "9-7", "a-b", "1-", "1-2-3", "18446744073709551615"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
