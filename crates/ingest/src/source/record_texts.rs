//! The text of one block record after the other, out of a stream of any size.
//!
//! In: the bytes of a file, unpacked as they are read. Out: the text of each record. Holds
//! one record at a time, and none that is larger than the limit: a file that unpacks to far more than
//! it is costs no more memory than that. Must not know what a record means.

use std::io::{self, BufRead, Read};

/// How records stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLayout {
    /// One a line.
    Lines,
    /// One document: a list of records, or one record.
    Document,
}

#[derive(Debug)]
pub enum TextError {
    Io(io::Error),
    /// The record that begins there has more bytes than the limit.
    TooLarge {
        at: u64,
        limit: usize,
    },
    Malformed {
        at: u64,
        what: &'static str,
    },
}

impl From<io::Error> for TextError {
    fn from(error: io::Error) -> Self {
        TextError::Io(error)
    }
}

/// What comes next.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Line,
    /// Nothing was read of the document.
    Begin,
    /// Behind the bracket that opens a list.
    First,
    /// Behind a comma.
    Next,
    /// Behind the end of a list.
    After,
    Done,
}

pub struct RecordTexts<R> {
    reader: R,
    state: State,
    /// Bytes taken so far.
    at: u64,
    limit: usize,
}

impl<R: BufRead> RecordTexts<R> {
    pub fn new(reader: R, form: FileLayout, limit: usize) -> Self {
        let state = if form == FileLayout::Lines { State::Line } else { State::Begin };
        RecordTexts { reader, state, at: 0, limit }
    }

    fn advance(&mut self) -> Result<Option<Vec<u8>>, TextError> {
        loop {
            match self.state {
                State::Line => return self.line(),
                State::Begin => match self.next_byte()? {
                    Some(b'[') => {
                        self.take_byte();
                        self.state = State::First;
                    }
                    Some(_) => return self.rest(),
                    None => self.state = State::Done,
                },
                State::First => {
                    if self.next_byte()? != Some(b']') {
                        return self.element().map(Some);
                    }
                    self.take_byte();
                    self.state = State::After;
                }
                State::Next => return self.element().map(Some),
                State::After => {
                    let more = self.next_byte()?.is_some();
                    self.state = State::Done;
                    if more {
                        return Err(self.malformed("something behind the end of the list"));
                    }
                }
                State::Done => return Ok(None),
            }
        }
    }

    /// Blank lines are records, too, without any text: whoever counts lines goes on counting.
    fn line(&mut self) -> Result<Option<Vec<u8>>, TextError> {
        let at = self.at;
        let mut text = Vec::new();
        let mut limited = self.reader.by_ref().take(self.limit as u64 + 1);
        limited.read_until(b'\n', &mut text)?;
        if text.len() > self.limit {
            return Err(TextError::TooLarge { at, limit: self.limit });
        }
        self.at += text.len() as u64;
        Ok(if text.is_empty() { None } else { Some(text) })
    }

    /// A document that is one record.
    fn rest(&mut self) -> Result<Option<Vec<u8>>, TextError> {
        self.state = State::Done;
        let at = self.at;
        let mut text = Vec::new();
        self.reader.by_ref().take(self.limit as u64 + 1).read_to_end(&mut text)?;
        if text.len() > self.limit {
            return Err(TextError::TooLarge { at, limit: self.limit });
        }
        Ok(Some(text))
    }

    /// An element of a list, up to the comma or the bracket behind it, which is taken, too.
    fn element(&mut self) -> Result<Vec<u8>, TextError> {
        if self.next_byte()?.is_none() {
            return Err(self.malformed("a list without an end"));
        }
        let at = self.at;
        let mut text = Vec::new();
        let mut scan = Scan::default();
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Err(self.malformed("a list without an end"));
            }
            let end = chunk.iter().position(|byte| scan.ends_before(*byte));
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if text.len() + part.len() > self.limit {
                return Err(TextError::TooLarge { at, limit: self.limit });
            }
            text.extend_from_slice(part);
            let closes = end.and_then(|end| chunk.get(end)) == Some(&b']');
            let taken = part.len() + usize::from(end.is_some());
            self.reader.consume(taken);
            self.at += taken as u64;
            if end.is_some() {
                self.state = if closes { State::After } else { State::Next };
                break;
            }
        }
        if text.is_empty() {
            return Err(TextError::Malformed { at, what: "an empty place in the list" });
        }
        Ok(text)
    }

    /// The next byte that is no blank; it is not taken.
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let found = chunk.iter().position(|byte| !byte.is_ascii_whitespace());
            let byte = found.and_then(|found| chunk.get(found)).copied();
            let blanks = found.unwrap_or(chunk.len());
            self.reader.consume(blanks);
            self.at += blanks as u64;
            if byte.is_some() {
                return Ok(byte);
            }
        }
    }

    /// The one that `next_byte` saw.
    fn take_byte(&mut self) {
        self.reader.consume(1);
        self.at += 1;
    }

    fn malformed(&self, what: &'static str) -> TextError {
        TextError::Malformed { at: self.at, what }
    }
}

impl<R: BufRead> Iterator for RecordTexts<R> {
    type Item = Result<Vec<u8>, TextError>;

    /// After an error nothing more is read: where the next record begins is not known, or costs
    /// whatever the file likes it to cost.
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.state = State::Done;
        }
        next.transpose()
    }
}

/// How deep in a JSON value the bytes so far lead.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Scan {
    /// Whether the value has ended before this byte.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b',' | b']' if self.depth == 0 => return true,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads in chunks of a few bytes, so that everything is cut somewhere.
    fn texts(text: &str, form: FileLayout, limit: usize) -> Vec<Result<String, String>> {
        let reader = io::BufReader::with_capacity(3, text.as_bytes());
        let shown = |text: Vec<u8>| String::from_utf8(text).unwrap();
        let wrong = |error| match error {
            TextError::Io(error) => error.to_string(),
            TextError::TooLarge { at, limit } => format!("more than {limit} at {at}"),
            TextError::Malformed { at, what } => format!("{what} at {at}"),
        };
        RecordTexts::new(reader, form, limit).map(|it| it.map(shown).map_err(wrong)).collect()
    }

    fn own(list: &[Result<&str, &str>]) -> Vec<Result<String, String>> {
        let own = |it: &Result<&str, &str>| match it {
            Ok(text) => Ok((*text).to_owned()),
            Err(text) => Err((*text).to_owned()),
        };
        list.iter().map(own).collect()
    }

    #[test]
    fn a_document_is_a_record_or_a_list_of_them() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n", &[]),
            (" {\"a\": [1]} ", &[Ok("{\"a\": [1]} ")]),
            (" [ ] ", &[]),
            ("[1]", &[Ok("1")]),
            (" [ {\"a,]\":\"\\\"]\"} ,[2,[3]] ]\n", &[Ok("{\"a,]\":\"\\\"]\"} "), Ok("[2,[3]] ")]),
            ("[1,2", &[Ok("1"), Err("a list without an end at 4")]),
            ("[1,", &[Ok("1"), Err("a list without an end at 3")]),
            ("[", &[Err("a list without an end at 1")]),
            ("[1,,2]", &[Ok("1"), Err("an empty place in the list at 3")]),
            ("[1,]", &[Ok("1"), Err("an empty place in the list at 3")]),
            ("[1] [2]", &[Ok("1"), Err("something behind the end of the list at 4")]),
        ] {
            assert_eq!(texts(text, FileLayout::Document, 100), own(expected), "{text}");
        }
    }

    #[test]
    fn a_record_is_refused_as_soon_as_it_passes_the_limit() {
        let endless = |head: &'static [u8]| {
            let reader = head.chain(io::repeat(b'7'));
            io::BufReader::new(reader)
        };
        for (head, form, at) in [
            (&b"[1, "[..], FileLayout::Document, 4),
            (b" 7", FileLayout::Document, 1),
            (b"1\n", FileLayout::Lines, 2),
        ] {
            let limit = 1 << 16;
            let last = RecordTexts::new(endless(head), form, limit).last().unwrap();
            assert!(
                matches!(last, Err(TextError::TooLarge { at: place, limit: told }) if place == at && told == limit)
            );
        }
        assert_eq!(texts("[12345,1]", FileLayout::Document, 5).len(), 2);
        assert_eq!(texts("[12345,1]", FileLayout::Document, 4), own(&[Err("more than 4 at 1")]));
        assert_eq!(texts("1234\n1", FileLayout::Lines, 5), own(&[Ok("1234\n"), Ok("1")]));
        assert_eq!(
            texts("1\n12345\n1", FileLayout::Lines, 5),
            own(&[Ok("1\n"), Err("more than 5 at 2")])
        );
    }

    proptest! {
        #[test]
        fn a_list_is_cut_as_a_reader_of_json_would(
            list in proptest::collection::vec("[a-z\\[\\]{},\"\\\\ ]{0,12}", 0..8),
            pretty in any::<bool>(),
        ) {
            let value = serde_json::json!(list.iter().map(|text| serde_json::json!({ "t": [text] })).collect::<Vec<_>>());
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            let cut: Vec<serde_json::Value> = texts(&text, FileLayout::Document, 1 << 10)
                .into_iter()
                .map(|it| serde_json::from_str(&it.unwrap()).unwrap())
                .collect();
            prop_assert_eq!(serde_json::Value::from(cut), value);
        }
    }
}
