//! What was looked at, how it is, and what to do about it.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Good,
    /// It works, but less than it could.
    Warning,
    /// It cannot work, or answers would be missing or false.
    Wrong,
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What it is about: "node eth http://127.0.0.1:8545", "disk".
    pub subject: String,
    /// What was looked at, the same word on every machine: "chain", "traces".
    pub check: &'static str,
    pub state: State,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<String>,
}

/// Findings about one subject.
pub struct Notes {
    subject: String,
    pub findings: Vec<Finding>,
}

impl Notes {
    pub fn new(subject: impl Into<String>) -> Self {
        Notes { subject: subject.into(), findings: Vec::new() }
    }

    pub fn good(&mut self, check: &'static str, text: impl Into<String>) {
        self.add(check, State::Good, text.into(), None);
    }

    pub fn warning(
        &mut self,
        check: &'static str,
        text: impl Into<String>,
        todo: impl Into<String>,
    ) {
        self.add(check, State::Warning, text.into(), Some(todo.into()));
    }

    pub fn wrong(&mut self, check: &'static str, text: impl Into<String>, todo: impl Into<String>) {
        self.add(check, State::Wrong, text.into(), Some(todo.into()));
    }

    fn add(&mut self, check: &'static str, state: State, text: String, todo: Option<String>) {
        self.findings.push(Finding { subject: self.subject.clone(), check, state, text, todo });
    }
}

/// For people: a line for each subject, its findings below it, what to do below them.
pub fn lines(findings: &[Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut subject = "";
    for finding in findings {
        if finding.subject != subject {
            subject = &finding.subject;
            lines.push(subject.to_owned());
        }
        let state = match finding.state {
            State::Good => "good   ",
            State::Warning => "warning",
            State::Wrong => "WRONG  ",
        };
        lines.push(format!("  {state} {:<12} {}", finding.check, finding.text));
        if let Some(todo) = &finding.todo {
            lines.push(format!("          to do:       {todo}"));
        }
    }
    lines.push(summary(findings));
    lines
}

fn summary(findings: &[Finding]) -> String {
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    match (count(State::Wrong), count(State::Warning)) {
        (0, 0) => "All is well.".to_owned(),
        (0, warnings) => format!("Nothing is wrong; {warnings} to look at."),
        (wrong, 0) => format!("{wrong} wrong."),
        (wrong, warnings) => format!("{wrong} wrong, {warnings} to look at."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_named_once_and_what_to_do_stands_below() {
        let mut notes = Notes::new("disk");
        notes.good("space", "5 GiB free");
        notes.wrong("folder", "cannot be written", "chown it");
        let expected = [
            "disk",
            "  good    space        5 GiB free",
            "  WRONG   folder       cannot be written",
            "          to do:       chown it",
            "1 wrong.",
        ];
        assert_eq!(lines(&notes.findings), expected);
        assert_eq!(lines(&[]), ["All is well."]);
    }
}
