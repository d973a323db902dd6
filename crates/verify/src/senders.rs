//! Senders are not part of what a block's hash covers; only signatures tell who sent what.

use model::raw::tx_rlp::is_deposit;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::thread;

use model::raw::Tx;

use super::checks::{Checks, Lie, Senders};
use super::sender::{Signer, signer, signer_by_any_signature};

/// How many senders are looked at once one of them is wrong, to tell a lie from a chain whose
/// transactions are not signed as we know it.
const SECOND_LOOK: usize = 5;

/// Which transaction is looked at where one must do: drawn anew by every process, so that no node knows.
static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A signature costs as much as all the rest of a transaction, and a new block waits for its last one. A thread more is
/// worth its beginning from so many on.
const TXS_PER_THREAD: usize = 32;

static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));

/// In the transactions' order.
fn on_all_processors<T: Send>(txs: &[Tx], of: impl Fn(&Tx) -> T + Sync) -> Vec<T> {
    let threads = (txs.len() / TXS_PER_THREAD).clamp(1, *PROCESSORS);
    let mut shares = txs.chunks(txs.len().div_ceil(threads).max(1));
    let of_share = |share: &[Tx]| share.iter().map(&of).collect::<Vec<T>>();
    let mine = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|share| scope.spawn(move || of_share(share))).collect();
        let mut all = of_share(mine);
        for other in others {
            all.extend(other.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)));
        }
        all
    })
}

fn is_wrong(tx: &Tx) -> bool {
    matches!(signer(tx), Signer::Is(address) if Some(address) != tx.from)
}

fn fits(tx: &Tx) -> bool {
    matches!(signer(tx), Signer::Is(address) if Some(address) == tx.from)
}

impl Checks<'_> {
    /// True when every sender was recovered and is the one named.
    pub(super) fn senders(&self) -> Result<bool, Lie> {
        let txs = &self.block.txs;
        match self.rules.senders {
            Senders::All => self.every_sender(),
            Senders::Sample => {
                let drawn = SECRET.hash_one(self.block.hash);
                let start = drawn.checked_rem(txs.len() as u64).unwrap_or(0);
                let mut sample = txs.iter().cycle().skip(start as usize).take(txs.len());
                if self.is_strict() {
                    return sample
                        .next()
                        .map_or(Ok(()), |tx| self.sender(tx).map(drop))
                        .map(|()| false);
                }
                let sample = sample.take(SECOND_LOOK);
                let suspicious = sample.clone().next().is_some_and(is_wrong);
                if suspicious && sample.into_iter().any(fits) {
                    return self.every_sender();
                }
                Ok(false)
            }
        }
    }

    fn every_sender(&self) -> Result<bool, Lie> {
        if !self.is_strict() {
            return self.every_sender_of_any_chain();
        }
        let mut proven = true;
        for sender in on_all_processors(&self.block.txs, |tx| self.sender(tx)) {
            proven &= sender?;
        }
        Ok(proven)
    }

    /// On a chain whose rules are known. False for what nobody signed.
    fn sender(&self, tx: &Tx) -> Result<bool, Lie> {
        // A deposit names its sender in its own bytes.
        if is_deposit(tx) && !self.knows_all_forms() {
            return Ok(true);
        }
        let found = match self.knows_all_forms() {
            true => signer_by_any_signature(tx),
            false => signer(tx),
        };
        let expected = match found {
            Signer::Is(address) if Some(address) == tx.from => return Ok(true),
            Signer::Is(address) => address.to_string(),
            Signer::Nobody if !self.knows_all_forms() => return Ok(false),
            Signer::Nobody | Signer::Unknown => "a signature".to_owned(),
        };
        Err(self.wrong_sender(tx, &expected))
    }

    /// A block in which no sender at all fits its signature is of a chain that does not sign as we
    /// know it (a generated one, say): not proven. One that fits elsewhere but not here is a lie.
    fn every_sender_of_any_chain(&self) -> Result<bool, Lie> {
        let mut unproven = false;
        let mut fitting = 0;
        let mut wrong: Option<(&Tx, alloy_primitives::Address)> = None;
        let signers = on_all_processors(&self.block.txs, signer);
        for (tx, signer) in self.block.txs.iter().zip(signers) {
            match signer {
                Signer::Is(address) if Some(address) == tx.from => fitting += 1,
                Signer::Is(address) => wrong = wrong.or(Some((tx, address))),
                Signer::Nobody | Signer::Unknown => unproven = true,
            }
        }
        match wrong {
            Some((tx, address)) if fitting > 0 || self.block.txs.len() == 1 => {
                Err(self.wrong_sender(tx, &address.to_string()))
            }
            Some(_) => Ok(false),
            None => Ok(!unproven),
        }
    }

    fn wrong_sender(&self, tx: &Tx, expected: &str) -> Lie {
        let hash = tx.hash.unwrap_or_default();
        let got = format!("{} as sender of {hash}", tx.from.unwrap_or_default());
        self.lie("sender", expected, got)
    }
}
