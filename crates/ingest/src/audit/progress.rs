//! What audits found since the process started, for /status and the metrics.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use alloy_primitives::B256;
use serde::Serialize;

use super::{AccountAudit, BlockAudit, Verdict};
use crate::lock::lock;

/// Contradictions shown; the newest.
const MISMATCHES_MAX: usize = 16;
/// Blocks of which it is known how many accounts were proven; the oldest are forgotten first.
const BLOCKS_MAX: usize = 65_536;

#[derive(Default)]
pub struct AuditProgress {
    status: Mutex<AuditStatus>,
    proven: Mutex<BTreeMap<u64, (B256, u64)>>,
}

/// Pairs of account and block, since this process started.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct AuditStatus {
    /// Pairs a minute in the background; 0 is none.
    pub per_minute: u32,
    pub proven: u64,
    pub mismatched: u64,
    /// Rules that are not modelled could touch the account.
    pub unexplained: u64,
    /// No node gave a proof that holds.
    pub unproven: u64,
    /// Why nothing is audited in the background, where nothing is.
    pub waiting: Option<String>,
    pub mismatches: VecDeque<MismatchStatus>,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct MismatchStatus {
    pub block: u64,
    #[serde(flatten)]
    pub audit: AccountAudit,
}

impl AuditProgress {
    pub(crate) fn set_pace(&self, per_minute: u32) {
        lock(&self.status).per_minute = per_minute;
    }

    pub(crate) fn set_waiting(&self, why: Option<String>) {
        lock(&self.status).waiting = why;
    }

    pub(crate) fn add(&self, chain: &str, hash: B256, audit: &BlockAudit) {
        let mut status = lock(&self.status);
        for account in &audit.audits {
            let (place, name) = match &account.verdict {
                Verdict::Proven => (&mut status.proven, "proven"),
                Verdict::Mismatch(_) => (&mut status.mismatched, "mismatch"),
                Verdict::Unexplained { .. } => (&mut status.unexplained, "unexplained"),
                Verdict::Unproven { .. } => (&mut status.unproven, "unproven"),
            };
            *place += 1;
            let chain = chain.to_owned();
            metrics::counter!("headwater_audits_total", "chain" => chain, "verdict" => name)
                .increment(1);
            if matches!(account.verdict, Verdict::Mismatch(_)) {
                let audit_of = MismatchStatus { block: audit.number, audit: account.clone() };
                status.mismatches.push_front(audit_of);
                status.mismatches.truncate(MISMATCHES_MAX);
            }
        }
        let proven = audit.count(|verdict| *verdict == Verdict::Proven);
        let mut blocks = lock(&self.proven);
        let place = blocks.entry(audit.number).or_insert((hash, 0));
        if place.0 != hash {
            *place = (hash, 0);
        }
        place.1 += proven;
        while blocks.len() > BLOCKS_MAX {
            blocks.pop_first();
        }
    }

    /// How many accounts of this block were proven; the same one twice counts twice.
    pub fn proven_of(&self, number: u64, hash: B256) -> u64 {
        lock(&self.proven).get(&number).filter(|(of, _)| *of == hash).map_or(0, |(_, n)| *n)
    }

    pub fn snapshot(&self) -> AuditStatus {
        lock(&self.status).clone()
    }
}
