//! Where the values of a large JSON text begin and end, without reading them.
//!
//! Blocks come by the megabyte and are read once, by whoever knows their fields; reading them here
//! too, only to cut them out of their envelope, would double that work. So this looks at strings and
//! brackets alone: it never cuts well-formed JSON in the wrong place, and what is not well-formed
//! fails when it is read.

/// A member's name as written, without quotes, and its value.
pub type Member<'a> = (&'a [u8], &'a [u8]);

/// The members of the object that `text` is; `None` where it is no object.
pub fn object(text: &[u8]) -> Option<Vec<Member<'_>>> {
    let mut skim = Skim { rest: text };
    let members = skim.members()?;
    skim.is_at_end().then_some(members)
}

/// The members of each object of the list that `text` is.
pub fn objects(text: &[u8]) -> Option<Vec<Vec<Member<'_>>>> {
    let mut skim = Skim { rest: text };
    let mut list = Vec::new();
    skim.expect(b'[')?;
    if !skim.take(b']') {
        loop {
            list.push(skim.members()?);
            if !skim.take(b',') {
                break;
            }
        }
        skim.expect(b']')?;
    }
    skim.is_at_end().then_some(list)
}

struct Skim<'a> {
    rest: &'a [u8],
}

impl<'a> Skim<'a> {
    fn take(&mut self, byte: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn is_at_end(&self) -> bool {
        self.rest.trim_ascii_start().is_empty()
    }

    fn members(&mut self) -> Option<Vec<Member<'a>>> {
        let mut members = Vec::with_capacity(4);
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(members);
        }
        loop {
            let name = self.value()?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            self.expect(b':')?;
            members.push((name, self.value()?));
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b'}')?;
        Some(members)
    }

    /// One value, from its first character to its last.
    fn value(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.trim_ascii_start();
        let end = match text.split_first()? {
            (b'"', inside) => text.len() - after_string(inside)?.len(),
            (b'{' | b'[', inside) => text.len() - after_nested(inside)?.len(),
            // A number, `true`, `false` or `null`.
            _ => text.iter().position(|b| b",}] \t\r\n".contains(b)).unwrap_or(text.len()),
        };
        let (value, rest) = text.split_at_checked(end)?;
        self.rest = rest;
        (!value.is_empty()).then_some(value)
    }
}

/// What follows the string whose first quote was taken.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn members_are_cut_where_they_end() {
        let text = r#" {"a" : {"x":["}",{"\"]":1}]}, "b\"":[ ] ,"c":null,"d":-1e5,"e":"\\"} "#;
        let members = object(text.as_bytes()).unwrap();
        let expected: [(&str, &str); 5] = [
            ("a", r#"{"x":["}",{"\"]":1}]}"#),
            (r#"b\""#, "[ ]"),
            ("c", "null"),
            ("d", "-1e5"),
            ("e", r#""\\""#),
        ];
        assert_eq!(members, expected.map(|(name, value)| (name.as_bytes(), value.as_bytes())));
        assert_eq!(objects(b" [ ] ").unwrap().len(), 0);
        let list = objects(br#"[{"a":1},{}]"#).unwrap();
        assert_eq!(list, [vec![(&b"a"[..], &b"1"[..])], vec![]]);
    }

    #[test]
    fn what_is_no_object_is_not_cut() {
        for text in ["", "[", "{", "{}x", r#"{"a"}"#, r#"{"a":}"#, r#"{"a":"\"}"#, r#"{"a":[}"#] {
            assert!(object(text.as_bytes()).is_none(), "{text}");
            assert!(objects(text.as_bytes()).is_none(), "{text}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((".*", inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_cut_value_reads_as_the_whole_does(value in json(), pretty in any::<bool>()) {
            let whole = serde_json::json!({ "result": value, "id": 1 });
            let text = match pretty {
                true => serde_json::to_string_pretty(&whole).unwrap(),
                false => whole.to_string(),
            };
            for (name, cut) in object(text.as_bytes()).unwrap() {
                let name = std::str::from_utf8(name).unwrap();
                prop_assert_eq!(&serde_json::from_slice::<Value>(cut).unwrap(), &whole[name]);
            }
        }

        #[test]
        fn no_text_stops_it(text in r#"[\[\]{}",:\\a1 é]{0,40}"#) {
            let _ = (object(text.as_bytes()), objects(text.as_bytes()));
        }
    }
}
