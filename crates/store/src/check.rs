//! What a check of everything found.

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckProgress {
    pub blocks_done: u64,
    pub blocks_total: u64,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedPart {
    /// In words: "chain 1: transactions of wallets".
    pub what: String,
    /// Rows, blocks or files.
    pub count: u64,
    /// What does not hold; the first few of many.
    pub faults: Vec<String>,
    pub faults_total: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub parts: Vec<CheckedPart>,
}

impl CheckReport {
    pub fn holds(&self) -> bool {
        self.parts.iter().all(|part| part.faults_total == 0)
    }
}

const FAULTS_SHOWN: usize = 10;

impl CheckedPart {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        CheckedPart { what: what.into(), count: 0, faults: Vec::new(), faults_total: 0 }
    }

    pub(crate) fn fault(&mut self, text: impl Into<String>) {
        self.faults_total += 1;
        if self.faults.len() < FAULTS_SHOWN {
            self.faults.push(text.into());
        }
    }
}
