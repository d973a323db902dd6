//! A reading position in a short ASCII text. Copying one is how a reader looks ahead.
//!
//! Knows letters, digits and spaces, nothing about dates.

#[derive(Clone, Copy)]
pub struct Scan<'a> {
    rest: &'a [u8],
}

/// A run of digits: some forms are told apart by its length alone.
#[derive(Clone, Copy)]
pub struct Digits {
    pub value: i64,
    pub count: usize,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { rest: text.as_bytes() }
    }

    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn at_digit(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    pub fn at_letter(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_alphabetic())
    }

    /// Steps over one of these bytes and says which.
    pub fn take_any(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        if !wanted.contains(first) {
            return None;
        }
        self.rest = rest;
        Some(*first)
    }

    pub fn take(&mut self, wanted: u8) -> bool {
        self.take_any(&[wanted]).is_some()
    }

    /// Steps over all of these bytes that follow and says whether there were any.
    pub fn skip(&mut self, unwanted: &[u8]) -> bool {
        !self.run(|byte| unwanted.contains(byte)).is_empty()
    }

    /// Reads every digit that follows; more than 14 are no part of any date.
    pub fn digits(&mut self) -> Option<Digits> {
        let run = self.run(u8::is_ascii_digit);
        if run.is_empty() || run.len() > 14 {
            return None;
        }
        let value = run.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        Some(Digits { value, count: run.len() })
    }

    /// As `digits`, but the run must be exactly this long.
    pub fn exactly(&mut self, count: usize) -> Option<i64> {
        self.digits().filter(|digits| digits.count == count).map(|digits| digits.value)
    }

    /// Reads a fraction's digits as thousandths; finer digits are cut off, not rounded.
    pub fn thousandths(&mut self) -> Option<i64> {
        let run = self.run(u8::is_ascii_digit);
        if run.is_empty() {
            return None;
        }
        let padded = run.iter().chain(b"000").take(3);
        Some(padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    }

    /// Reads every letter that follows; empty where there is none.
    pub fn word(&mut self) -> &'a [u8] {
        self.run(u8::is_ascii_alphabetic)
    }

    fn run(&mut self, belongs: impl Fn(&u8) -> bool) -> &'a [u8] {
        let length = self.rest.iter().take_while(|byte| belongs(byte)).count();
        let (run, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        self.rest = rest;
        run
    }
}
