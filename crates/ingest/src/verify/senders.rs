//! Senders are not part of what a block's hash covers; only signatures tell who sent what.

use model::raw::Tx;

use super::checks::{Checks, Lie, Senders};
use super::sender::{Signer, signer};

/// How many senders are looked at once one of them is wrong, to tell a lie from a chain whose
/// transactions are not signed as we know it.
const SECOND_LOOK: usize = 5;

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
                let [.., a, b] = self.block.hash.0;
                let start =
                    usize::from(u16::from_be_bytes([a, b])).checked_rem(txs.len()).unwrap_or(0);
                let sample = || txs.iter().cycle().skip(start).take(txs.len().min(SECOND_LOOK));
                let suspicious = sample().next().is_some_and(is_wrong);
                if suspicious && sample().any(fits) {
                    return self.every_sender();
                }
                Ok(false)
            }
        }
    }

    /// A block in which no sender at all fits its signature is of a chain that does not sign as we
    /// know it (a generated one, say): not proven. One that fits elsewhere but not here is a lie.
    fn every_sender(&self) -> Result<bool, Lie> {
        let mut unproven = false;
        let mut fitting = 0;
        let mut wrong: Option<(&Tx, alloy_primitives::Address)> = None;
        for tx in &self.block.txs {
            match signer(tx) {
                Signer::Is(address) if Some(address) == tx.from => fitting += 1,
                Signer::Is(address) => wrong = wrong.or(Some((tx, address))),
                Signer::Nobody | Signer::Unknown => unproven = true,
            }
        }
        match wrong {
            Some((tx, address)) if fitting > 0 || self.block.txs.len() == 1 => {
                let hash = tx.hash.unwrap_or_default();
                let got = format!("{} as sender of {hash}", tx.from.unwrap_or_default());
                Err(self.lie("sender", address, got))
            }
            Some(_) => Ok(false),
            None => Ok(!unproven),
        }
    }
}
