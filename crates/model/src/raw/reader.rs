//! Goes through JSON text from left to right and cuts it into names and values.
//!
//! Blocks come by the megabyte and almost all of it is hex of a known length, so this looks at
//! strings and brackets alone and leaves the inside of a value to whoever knows what it must be: it
//! never cuts well-formed JSON in the wrong place, and what is taken as text unread is to be checked
//! with `checked`. `None` everywhere means that the text is not what was asked for.

use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Reader { rest: text }
    }

    /// What comes next, past any blanks.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\n' | b'\t' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
        found
    }

    #[inline]
    pub fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// All that was not taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Goes to the next member of an object, or past the object's end, which is `Some(None)`.
    /// `is_first` is true before the first member and false from then on.
    #[inline]
    pub fn next_name(&mut self, is_first: &mut bool) -> Option<Option<Cow<'a, [u8]>>> {
        if !self.next_item(b'}', is_first)? {
            return Some(None);
        }
        let name = self.name()?;
        self.expect(b':')?;
        Some(Some(name))
    }

    /// Takes this name, given with its quotes and colon, if it stands there just so. `is_first`: of the object's members.
    #[inline]
    pub fn take_name(&mut self, name: &[u8], is_first: bool) -> bool {
        let text = if is_first { Some(self.rest) } else { self.rest.strip_prefix(b",") };
        let rest = text.and_then(|text| text.strip_prefix(name));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Names are short: a look at each character costs less than setting out to search.
    #[inline]
    fn name(&mut self) -> Option<Cow<'a, [u8]>> {
        self.peek();
        let inside = self.rest.strip_prefix(b"\"")?;
        let is_plain = |byte: &u8| *byte != b'"' && *byte != b'\\' && *byte >= b' ';
        let length = inside.iter().take_while(|byte| is_plain(byte)).count();
        let (name, rest) = inside.split_at_checked(length)?;
        match rest.strip_prefix(b"\"") {
            Some(rest) => {
                self.rest = rest;
                Some(Cow::Borrowed(name))
            }
            None => self.odd_name(),
        }
    }

    #[cold]
    fn odd_name(&mut self) -> Option<Cow<'a, [u8]>> {
        let plain: String = serde_json::from_slice(self.string()?).ok()?;
        Some(Cow::Owned(plain.into_bytes()))
    }

    /// Whether an object or list that ends with `end` has one more.
    #[inline]
    pub fn next_item(&mut self, end: u8, is_first: &mut bool) -> Option<bool> {
        if self.take(end) {
            return Some(false);
        }
        if !std::mem::take(is_first) {
            self.expect(b',')?;
        }
        Some(true)
    }

    /// Takes `"0x…"` with exactly so many characters after the `0x`, whatever they are.
    #[inline]
    pub fn hex_of_length(&mut self, digits: usize) -> Option<&'a [u8]> {
        self.peek();
        let found = self.rest.strip_prefix(b"\"0x")?;
        let (found, rest) = found.split_at_checked(digits)?;
        self.rest = rest.strip_prefix(b"\"")?;
        Some(found)
    }

    /// Takes `"0x…"` with up to so many lower-case digits, which are what is returned.
    #[inline]
    pub fn hex_up_to(&mut self, digits_max: usize) -> Option<&'a [u8]> {
        self.peek();
        let found = self.rest.strip_prefix(b"\"0x")?;
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digits = found.iter().take(digits_max).take_while(|byte| is_digit(byte)).count();
        let (found, rest) = found.split_at_checked(digits)?;
        self.rest = rest.strip_prefix(b"\"")?;
        Some(found)
    }

    /// One value, from its first character to its last.
    pub fn value(&mut self) -> Option<&'a [u8]> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' | b'[' => {
                let inside = self.rest.get(1..)?;
                self.cut(self.rest.len() - after_nested(inside)?.len())
            }
            // A number, `true`, `false` or `null`.
            _ => {
                let end = self.rest.iter().position(|byte| b",}] \t\r\n".contains(byte));
                self.cut(end.unwrap_or(self.rest.len()))
            }
        }
    }

    /// One value as text that is known to be well-formed.
    pub fn checked(&mut self) -> Option<&'a str> {
        let raw: &RawValue = serde_json::from_slice(self.value()?).ok()?;
        Some(raw.get())
    }

    #[inline]
    fn string(&mut self) -> Option<&'a [u8]> {
        self.peek();
        let inside = self.rest.strip_prefix(b"\"")?;
        self.cut(self.rest.len() - after_string(inside)?.len())
    }

    #[inline]
    fn cut(&mut self, length: usize) -> Option<&'a [u8]> {
        let (value, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        (!value.is_empty()).then_some(value)
    }
}

/// What follows the string whose first quote was taken.
#[inline]
fn after_string(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        let found = memchr::memchr2(b'"', b'\\', rest)?;
        let (stop, after) = rest.get(found..)?.split_first()?;
        if *stop == b'"' {
            return Some(after);
        }
        // A backslash and whatever it escapes.
        rest = after.get(1..)?;
    }
}

/// What follows the object or list whose first bracket was taken.
fn after_nested(mut rest: &[u8]) -> Option<&[u8]> {
    let mut depth = 1usize;
    while depth > 0 {
        let (byte, after) = rest.split_first()?;
        rest = match byte {
            b'"' => after_string(after)?,
            b'{' | b'[' => {
                depth += 1;
                after
            }
            b'}' | b']' => {
                depth -= 1;
                after
            }
            _ => after,
        };
    }
    Some(rest)
}

/// Says what is wrong with a text that could not be read as what was wanted.
pub fn complaint(text: &[u8], wanted: &str) -> String {
    match serde_json::from_slice::<&RawValue>(text) {
        Err(error) => error.to_string(),
        Ok(_) => {
            let start = String::from_utf8_lossy(text.get(..40).unwrap_or(text)).into_owned();
            format!("well-formed JSON, but no {wanted}: {start}")
        }
    }
}
