//! Internal transactions held against the state: for an account and a block, the balance before and after is
//! proven by `eth_getProof` under the state roots of verified headers, and the difference must be what the
//! stored block says, to the wei.
//!
//! In: stored blocks and nodes that give proofs. Out: verdicts. What is proven is the pair of account and block,
//! nothing else. Must not know: who asks, or what becomes of a block that is contradicted.

mod account_proof;
mod candidates;
mod doubts;
mod explained;
mod progress;
pub(crate) mod task;

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, B256, U256};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::Chain;
use model::proof::Proof;
use model::raw::Block;
use rpc::{Call, CallResult, Capabilities, Lane, Needs, Plan, Pool};
use serde::Serialize;
use store::Store;

pub use account_proof::{ProofFault, proven_balance};
pub use candidates::accounts;
pub(crate) use doubts::Doubts;
pub use explained::{Explained, Unexplained, explained, is_modelled};
pub use progress::{AuditProgress, AuditStatus, MismatchStatus};

use crate::error::Error;

/// How long a node may take for the proofs of a few accounts, where somebody waits for them.
pub const PROOFS_WITHIN: Duration = Duration::from_secs(20);
/// Accounts in one request: each takes two proofs.
const ACCOUNTS_AT_ONCE: usize = 8;

/// What became of one block.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct BlockAudit {
    pub number: u64,
    /// Accounts that the block names.
    pub accounts: usize,
    /// Why none was asked about.
    pub skipped: Option<String>,
    pub audits: Vec<AccountAudit>,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct AccountAudit {
    #[serde(serialize_with = "shown")]
    pub account: Address,
    #[serde(flatten)]
    pub verdict: Verdict,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The block explains what became of the balance, to the wei.
    Proven,
    /// It does not: a transfer is missing, made up or changed.
    Mismatch(Difference),
    /// A rule that is not modelled could touch this account.
    Unexplained { reason: String },
    /// No node gave a proof that holds.
    Unproven { reason: String },
}

/// Wei.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Difference {
    #[serde(serialize_with = "shown")]
    pub before: U256,
    #[serde(serialize_with = "shown")]
    pub after: U256,
    #[serde(serialize_with = "shown")]
    pub received: U256,
    #[serde(serialize_with = "shown")]
    pub spent: U256,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Difference { before, after, received, spent } = self;
        write!(
            f,
            "{before} wei before and {after} after, while the block explains {received} received and {spent} spent"
        )
    }
}

fn shown<T: std::fmt::Display, S: serde::Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

/// Whether a block explains what became of a balance.
pub fn judge(before: U256, after: U256, explained: Explained) -> Verdict {
    let Explained { received, spent } = explained;
    // Sums on both sides: nothing is below zero on the way.
    match before.checked_add(received).zip(after.checked_add(spent)) {
        Some((came, went)) if came == went => Verdict::Proven,
        _ => Verdict::Mismatch(Difference { before, after, received, spent }),
    }
}

impl BlockAudit {
    pub fn count(&self, is_it: impl Fn(&Verdict) -> bool) -> u64 {
        self.audits.iter().filter(|audit| is_it(&audit.verdict)).count() as u64
    }

    pub fn mismatches(&self) -> impl Iterator<Item = (Address, Difference)> {
        self.audits.iter().filter_map(|audit| match audit.verdict {
            Verdict::Mismatch(difference) => Some((audit.account, difference)),
            _ => None,
        })
    }
}

#[derive(Clone)]
pub struct Auditor {
    store: Store,
    pool: Arc<Pool>,
    chain: Arc<Chain>,
    /// How long a node may take; one that takes longer is not thought less of.
    within: Duration,
}

/// A block and the state roots around it.
struct AuditedBlock {
    block: Block,
    root_before: B256,
    root_after: B256,
}

enum Found {
    Block(Box<AuditedBlock>),
    /// Why it cannot be audited.
    Not(&'static str),
}

impl Auditor {
    pub fn new(store: Store, pool: Arc<Pool>, chain: Arc<Chain>, within: Duration) -> Self {
        Auditor { store, pool, chain, within }
    }

    /// So many accounts of the block, drawn by lot; all where no number is given.
    pub fn audit(
        &self,
        number: u64,
        sample: Option<usize>,
    ) -> BoxFuture<'_, Result<BlockAudit, Error>> {
        let draw = move |block: &Block| candidates::draw(block, sample);
        async move { self.audit_drawn(number, &draw).await }.boxed()
    }

    /// These accounts, whether the block names them or not.
    pub fn audit_accounts<'a>(
        &'a self,
        number: u64,
        accounts: &'a [Address],
    ) -> BoxFuture<'a, Result<BlockAudit, Error>> {
        let draw = |block: &Block| (accounts.to_vec(), candidates::accounts(block).len());
        async move { self.audit_drawn(number, &draw).await }.boxed()
    }

    async fn audit_drawn(
        &self,
        number: u64,
        draw: &(dyn Fn(&Block) -> (Vec<Address>, usize) + Send + Sync),
    ) -> Result<BlockAudit, Error> {
        let skipped = |reason: String| BlockAudit {
            number,
            accounts: 0,
            skipped: Some(reason),
            audits: Vec::new(),
        };
        let audited = match self.block(number).await? {
            Found::Block(audited) => audited,
            Found::Not(reason) => return Ok(skipped(reason.to_owned())),
        };
        let (accounts, total) = draw(&audited.block);
        let mut audits = Vec::with_capacity(accounts.len());
        let mut asked = Vec::new();
        for account in accounts {
            match explained(&audited.block, account, &self.chain) {
                Ok(explained) => asked.push((account, explained)),
                Err(why) => {
                    let verdict = Verdict::Unexplained { reason: why.to_string() };
                    audits.push(AccountAudit { account, verdict });
                }
            }
        }
        for part in asked.chunks(ACCOUNTS_AT_ONCE) {
            audits.extend(self.ask(&audited, part).await);
        }
        let audit = BlockAudit { number, accounts: total, skipped: None, audits };
        // A block that was reverted meanwhile is contradicted by nobody.
        if audit.count(|verdict| *verdict != Verdict::Proven) > 0 {
            let stored = self.store.view().await?.block_summary(self.chain.id, number).await?;
            if stored.is_none_or(|stored| stored.hash != audited.block.hash) {
                return Err(Error::Moved { number });
            }
        }
        Ok(audit)
    }

    /// The block, or why it cannot be audited.
    async fn block(&self, number: u64) -> Result<Found, Error> {
        let (view, chain) = (self.store.view().await?, self.chain.id);
        let Some((block, proof)) = view.whole_block(chain, number).await? else {
            return Ok(Found::Not("it is not stored"));
        };
        let Some(below) = number.checked_sub(1) else {
            return Ok(Found::Not("there is no state before it"));
        };
        let parent = view.block(chain, below).await?;
        let parent_proof = view.block_summary(chain, below).await?.map(|parent| parent.proof);
        let (Some(parent), Some(parent_proof)) = (parent, parent_proof) else {
            return Ok(Found::Not("the block below it is not stored"));
        };
        if !proof.has(Proof::HEADER) || !parent_proof.has(Proof::HEADER) {
            return Ok(Found::Not("its header, or its parent's, is not proven"));
        }
        let roots = parent.header.state_root.zip(block.header.state_root);
        Ok(match roots {
            Some((root_before, root_after)) => {
                Found::Block(Box::new(AuditedBlock { block, root_before, root_after }))
            }
            None => Found::Not("its header, or its parent's, has no state root"),
        })
    }

    async fn ask(
        &self,
        audited: &AuditedBlock,
        accounts: &[(Address, Explained)],
    ) -> Vec<AccountAudit> {
        let number = audited.block.number;
        let pair = |(account, _): &(Address, Explained)| {
            [number.saturating_sub(1), number].map(|at| Call::account_proof(account, at))
        };
        let calls: Vec<Call> = accounts.iter().flat_map(pair).collect();
        let plan = |_: &Capabilities| calls.clone();
        let needs = Needs { block: Some(number), ..Needs::default() };
        let within = Some(self.within);
        let plan = Plan { calls: &plan, not: &[], needs, lane: Lane::History, within };
        let fetched = self.pool.fetch_planned(plan).await;
        let (answers, from) = match fetched {
            Ok(fetched) => (fetched.answers, self.pool.label(fetched.upstream).to_owned()),
            Err(error) => {
                let reason = error.to_string();
                let unproven = |(account, _): &(Address, Explained)| AccountAudit {
                    account: *account,
                    verdict: Verdict::Unproven { reason: reason.clone() },
                };
                return accounts.iter().map(unproven).collect();
            }
        };
        let mut answers = answers.into_iter();
        let mut verdict = |(account, explained): &(Address, Explained)| {
            let before = balance(answers.next(), *account, audited.root_before);
            let after = balance(answers.next(), *account, audited.root_after);
            let verdict = match (before, after) {
                (Ok(before), Ok(after)) => judge(before, after, *explained),
                (Err(why), _) | (_, Err(why)) => {
                    Verdict::Unproven { reason: format!("{from}: {why}") }
                }
            };
            AccountAudit { account: *account, verdict }
        };
        accounts.iter().map(&mut verdict).collect()
    }
}

fn balance(answer: Option<CallResult>, account: Address, root: B256) -> Result<U256, String> {
    match answer {
        Some(Ok(answer)) => {
            proven_balance(answer.json(), account, root).map_err(|fault| fault.to_string())
        }
        Some(Err(failure)) => Err(failure.to_string()),
        None => Err("no answer".to_owned()),
    }
}
