//! Which member of an object comes next: most likely the one that came next in the object before it.
//!
//! A node writes all objects of a kind in one order. So the text is compared with the name that is expected, instead of
//! being searched for the end of a name that is then looked for among all.

use std::borrow::Cow;

use super::reader::Reader;

/// So many members that may be left out are passed over before all names are looked at.
const SKIPPED_MAX: usize = 4;
const MEMBERS_MAX: usize = 64;

/// For each member, and for the beginning of the object, the one that was seen to follow.
pub struct MemberOrder([u8; MEMBERS_MAX + 1]);

/// Where the reader is in an object whose bracket was taken.
pub struct MemberPlace {
    is_first: bool,
    /// One more than the last known member; zero before the first.
    after: usize,
}

pub enum Member<'a> {
    /// `is_plain`: its name is written without escapes.
    Known {
        index: usize,
        is_plain: bool,
    },
    Other(Cow<'a, [u8]>),
}

/// As they are declared.
impl Default for MemberOrder {
    fn default() -> Self {
        MemberOrder(std::array::from_fn(|place| place as u8))
    }
}

impl Default for MemberPlace {
    fn default() -> Self {
        MemberPlace { is_first: true, after: 0 }
    }
}

impl MemberOrder {
    /// Takes the next member's name and colon, or the end of the object, which is `Some(None)`. `names`: each with its
    /// quotes and colon.
    #[inline]
    pub fn next<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        place: &mut MemberPlace,
        names: &[&[u8]],
    ) -> Option<Option<Member<'a>>> {
        let mut after = place.after;
        for _ in 0..=SKIPPED_MAX {
            let Some(index) = self.0.get(after).map(|index| usize::from(*index)) else { break };
            let Some(name) = names.get(index) else { break };
            if reader.take_name(name, place.is_first) {
                *place = MemberPlace { is_first: false, after: index + 1 };
                return Some(Some(Member::Known { index, is_plain: true }));
            }
            after = index + 1;
        }
        self.search(reader, place, names)
    }

    #[inline(never)]
    fn search<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        place: &mut MemberPlace,
        names: &[&[u8]],
    ) -> Option<Option<Member<'a>>> {
        let Some(name) = reader.next_name(&mut place.is_first)? else { return Some(None) };
        let is_it = |known: &&[u8]| known.get(1..known.len().saturating_sub(2)) == Some(&*name);
        let Some(index) = names.iter().position(is_it) else {
            return Some(Some(Member::Other(name)));
        };
        if let (Some(next), Ok(index)) = (self.0.get_mut(place.after), u8::try_from(index)) {
            *next = index;
        }
        place.after = index + 1;
        Some(Some(Member::Known { index, is_plain: matches!(name, Cow::Borrowed(_)) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&[u8]] = &[b"\"a\":", b"\"bc\":", b"\"d\":", b"\"e\":"];

    fn read(order: &mut MemberOrder, text: &str) -> Option<Vec<String>> {
        let mut reader = Reader::new(text.as_bytes());
        let (mut place, mut found) = (MemberPlace::default(), Vec::new());
        reader.expect(b'{')?;
        while let Some(member) = order.next(&mut reader, &mut place, NAMES)? {
            let value = String::from_utf8(reader.value()?.to_vec()).unwrap();
            found.push(match member {
                Member::Known { index, is_plain: true } => format!("{index}={value}"),
                Member::Known { index, is_plain: false } => format!("({index})={value}"),
                Member::Other(name) => format!("{}={value}", String::from_utf8_lossy(&name)),
            });
        }
        reader.is_at_end().then_some(found)
    }

    #[test]
    fn members_are_found_in_any_order_whatever_order_was_before() {
        let texts = [
            (r#"{"a":1,"bc":2,"d":3,"e":4}"#, "0=1 1=2 2=3 3=4"),
            (r#"{"e":1,"d":2,"bc":3,"a":4}"#, "3=1 2=2 1=3 0=4"),
            (r#"{"d":1,"x":2,"a":3,"y":4,"e":5}"#, "2=1 x=2 0=3 y=4 3=5"),
            (r#" { "a" : 1 , "e":2 } "#, "0=1 3=2"),
            (r#"{"a":1,"a":2,"bc":3,"bc":4}"#, "0=1 0=2 1=3 1=4"),
            (r#"{"b\u0063":1,"d":2}"#, "(1)=1 2=2"),
            (r#"{"x":1}"#, "x=1"),
            ("{}", ""),
        ];
        for (before, _) in texts {
            for (text, wanted) in texts {
                let mut order = MemberOrder::default();
                let _ = read(&mut order, before);
                for _ in 0..3 {
                    assert_eq!(
                        read(&mut order, text).unwrap().join(" "),
                        wanted,
                        "{before} {text}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_object_is_refused_wherever_it_goes_wrong() {
        let whole = r#"{"a":1,"bc":2,"d":3}"#;
        let broken = (0..whole.len()).map(|end| whole[..end].to_owned()).chain(
            [
                r#"{,"a":1}"#,
                r#"{"a":1,}"#,
                r#"{"a":"1""bc":2}"#,
                r#"{"a":1,,"bc":2}"#,
                r#"{"a":1,"bc"2}"#,
                r#"{"a":1,bc":2}"#,
                r#"{"a":1]"#,
            ]
            .map(str::to_owned),
        );
        for text in broken {
            let mut order = MemberOrder::default();
            assert_eq!(read(&mut order, whole).unwrap().len(), 3);
            assert_eq!(read(&mut order, &text), None, "{text}");
        }
    }
}
