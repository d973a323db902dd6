//! Where the values of a large JSON text begin and end, without reading them.
//!
//! Blocks come by the megabyte and are read once, by whoever knows their fields; reading them here
//! too, only to cut them out of their envelope, would double that work. What is not well-formed fails
//! when it is read.

use model::raw::reader::Reader;
use std::borrow::Cow;

/// A member's name and its value as written.
pub type JsonMember<'a> = (Cow<'a, [u8]>, &'a [u8]);

/// What an envelope is made of. Of two with one name, one would be checked and the other believed.
const ENVELOPE: [&[u8]; 6] = [b"jsonrpc", b"id", b"method", b"params", b"result", b"error"];

/// Which members of an envelope were there by now.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenMembers(u8);

impl SeenMembers {
    /// Says whether the name is one of an envelope's and was there before.
    pub fn is_repeated(&mut self, name: &[u8]) -> bool {
        let Some(at) = ENVELOPE.iter().position(|known| *known == name) else { return false };
        let bit = 1 << at;
        let was_there = self.0 & bit != 0;
        self.0 |= bit;
        was_there
    }
}

/// The members of the object that `text` is; `None` where it is no object.
pub fn object(text: &[u8]) -> Option<Vec<JsonMember<'_>>> {
    let mut reader = Reader::new(text);
    let members = members(&mut reader)?;
    reader.is_at_end().then_some(members)
}

/// The members of an object up to one that is called `last` and is an object or a list. Of that, what
/// is given is all the text from its beginning on. `None` where there is no such member.
pub fn object_until<'a>(text: &'a [u8], last: &[u8]) -> Option<Vec<JsonMember<'a>>> {
    let mut reader = Reader::new(text);
    let (mut members, mut is_first) = (Vec::with_capacity(4), true);
    reader.expect(b'{')?;
    while let Some(name) = reader.next_name(&mut is_first)? {
        if name.as_ref() == last && matches!(reader.peek()?, b'{' | b'[') {
            members.push((name, reader.rest()));
            return Some(members);
        }
        members.push((name, reader.value()?));
    }
    None
}

/// The members of each object of the list that `text` is.
pub fn objects(text: &[u8]) -> Option<Vec<Vec<JsonMember<'_>>>> {
    let mut reader = Reader::new(text);
    let (mut list, mut is_first) = (Vec::new(), true);
    reader.expect(b'[')?;
    while reader.next_item(b']', &mut is_first)? {
        list.push(members(&mut reader)?);
    }
    reader.is_at_end().then_some(list)
}

fn members<'a>(reader: &mut Reader<'a>) -> Option<Vec<JsonMember<'a>>> {
    let (mut members, mut is_first) = (Vec::with_capacity(4), true);
    reader.expect(b'{')?;
    while let Some(name) = reader.next_name(&mut is_first)? {
        members.push((name, reader.value()?));
    }
    Some(members)
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
            (r#"b""#, "[ ]"),
            ("c", "null"),
            ("d", "-1e5"),
            ("e", r#""\\""#),
        ];
        assert_eq!(
            members,
            expected.map(|(name, value)| (name.as_bytes().into(), value.as_bytes()))
        );
        assert_eq!(objects(b" [ ] ").unwrap().len(), 0);
        let list = objects(br#"[{"a":1},{}]"#).unwrap();
        assert_eq!(list, [vec![(b"a"[..].into(), &b"1"[..])], vec![]]);
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
                let name = std::str::from_utf8(&name).unwrap();
                prop_assert_eq!(&serde_json::from_slice::<Value>(cut).unwrap(), &whole[name]);
            }
        }

        #[test]
        fn no_text_stops_it(text in r#"[\[\]{}",:\\a1 é]{0,40}"#) {
            let _ = (object(text.as_bytes()), objects(text.as_bytes()));
        }
    }
}
