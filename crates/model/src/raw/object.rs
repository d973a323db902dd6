//! A JSON-RPC object as a struct that forgets nothing.
//!
//! `rpc_object!` turns a list of fields into a struct of `Option`s with: reading from JSON without
//! an intermediate tree, writing JSON, and a walk over the fields for others (`fields`). Fields we do
//! not know, and values in a form of their own, are kept as text in `extras`; explicit nulls in
//! `nulls`. So what a node said can be said again, field for field, for chains and forks nobody told
//! us of.

use super::member_order::MemberOrder;
use super::reader::Reader;

/// Reads itself in place: these structs are large, and a block has thousands of them.
pub trait Object: Default {
    /// How many fields it has, without extras.
    const FIELD_COUNT: usize;

    /// `None` where the text is no such object; what was read till then stays. `order`: of the members of objects before
    /// it.
    fn read_in_order(&mut self, reader: &mut Reader<'_>, order: &mut MemberOrder) -> Option<()>;

    /// One object by itself.
    fn read_into(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        self.read_in_order(reader, &mut MemberOrder::default())
    }

    fn extras(&self) -> &Extras;
    fn extras_mut(&mut self) -> &mut Extras;
}

pub fn read_list<T: Object>(reader: &mut Reader<'_>) -> Option<Vec<T>> {
    let (mut list, mut order) = (Vec::new(), MemberOrder::default());
    let start = reader.rest().len();
    reader.expect(b'[')?;
    let mut is_first = true;
    while reader.next_item(b']', &mut is_first)? {
        let before = reader.rest().len();
        if takes_too_much::<T>(list.len(), start - before) {
            return None;
        }
        list.push(T::default());
        list.last_mut()?.read_in_order(reader, &mut order)?;
        if list.len() == 1 && size_of::<T>() >= LARGE {
            let rest = reader.rest().len();
            // Never more memory than text, however short the first one is.
            list.reserve(rest / (before - rest).max(size_of::<T>()));
        }
    }
    Some(list)
}

/// Memory that a list may take by the length of its text: real objects need a tenth of it, while a list of
/// `{}` would take hundreds of times what it is.
const MEMORY_PER_BYTE: usize = 16;
const MEMORY_MIN: usize = 1 << 20;

/// Whether so many `T` are more than so long a text can warrant.
pub(super) fn takes_too_much<T>(count: usize, text_bytes: usize) -> bool {
    count * size_of::<T>() > MEMORY_MIN + MEMORY_PER_BYTE * text_bytes
}

/// Transactions and receipts: their lists fill the text they stand in, so the first tells how many
/// there will be. Moving them when a list grows costs as much as reading some fields.
const LARGE: usize = 512;

/// Text of fields the struct has no place for: name and JSON value.
pub type Extras = Vec<(Box<str>, Box<str>)>;

/// Writes `"name":` with the comma that separates it from the field before.
#[inline]
pub fn begin_field(out: &mut Vec<u8>, first: &mut bool, name: &str) {
    let begin: &[u8] = if std::mem::take(first) { b"\"" } else { b",\"" };
    out.extend_from_slice(begin);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

#[macro_export]
macro_rules! rpc_object {
    ($(#[$meta:meta])* pub struct $name:ident { $($field:ident : $kind:ty = $json:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(pub $field: Option<$kind>,)*
            /// Bit n is set where field n was an explicit null.
            pub nulls: u64,
            pub extras: $crate::raw::object::Extras,
        }

        const _: () = {
            use $crate::raw::fields::{
                Field, FieldState, FieldStates, FieldValues, FieldVisitor, FillFields, VisitFields,
            };
            use $crate::raw::json_value::{self, JsonValue, Slot};
            use $crate::raw::member_order::{Member, MemberOrder, MemberPlace};
            use $crate::raw::object::{self, Extras, Object};
            use $crate::raw::reader::Reader;

            #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "one index per field")]
            #[derive(Clone, Copy)]
            enum Index { $($field,)* COUNT }
            const _: () = assert!(Index::COUNT as usize <= 64, "`nulls` has a bit for each field");

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                    let raw = <&serde_json::value::RawValue>::deserialize(input)?;
                    let mut object = $name::default();
                    let read = object.read_into(&mut Reader::new(raw.get().as_bytes()));
                    let wrong = || serde::de::Error::custom(concat!("not a ", stringify!($name)));
                    read.map(|()| object).ok_or_else(wrong)
                }
            }

            impl Object for $name {
                const FIELD_COUNT: usize = Index::COUNT as usize;

                fn read_in_order(
                    &mut self,
                    reader: &mut Reader<'_>,
                    order: &mut MemberOrder,
                ) -> Option<()> {
                    const NAMES: &[&[u8]] = &[$(concat!('"', $json, "\":").as_bytes()),*];
                    reader.expect(b'{')?;
                    let mut place = MemberPlace::default();
                    let mut seen = 0u64;
                    while let Some(member) = order.next(reader, &mut place, NAMES)? {
                        let index = match member {
                            Member::Known { index, .. } => index,
                            Member::Other(name) => {
                                let name = std::str::from_utf8(&name).ok()?.into();
                                self.extras.push((name, reader.checked()?.into()));
                                continue;
                            }
                        };
                        // Said twice, one would be checked and the other told.
                        if seen & (1 << index) != 0 {
                            return None;
                        }
                        seen |= 1 << index;
                        $(if index == Index::$field as usize {
                            match <$kind as JsonValue>::next_slot(reader)? {
                                Slot::Value(value) => self.$field = Some(value),
                                Slot::Null => self.nulls |= 1 << index,
                                Slot::Odd(value, text) => {
                                    self.$field = value;
                                    self.extras.push(($json.into(), text));
                                }
                            }
                            continue;
                        })*
                    }
                    Some(())
                }

                fn extras(&self) -> &Extras {
                    &self.extras
                }

                fn extras_mut(&mut self) -> &mut Extras {
                    &mut self.extras
                }
            }

            impl<V> VisitFields<V> for $name
            where
                $(V: FieldVisitor<$kind>,)*
            {
                #[inline]
                fn visit_fields(&self, template: &Self, visitor: &mut V) {
                    $(visitor.visit(Field {
                        index: Index::$field as usize,
                        value: &self.$field,
                        is_null: self.nulls & (1 << Index::$field as u64) != 0,
                        template: &template.$field,
                    });)*
                }
            }

            impl<S> FillFields<S> for $name
            where
                S: FieldStates,
                $(S: FieldValues<$kind>,)*
            {
                #[inline]
                fn fill_fields(&mut self, template: &Self, source: &mut S) -> Option<()> {
                    $(match source.state(Index::$field as usize) {
                        FieldState::Value => self.$field = Some(source.next_value()?),
                        FieldState::AsTemplate => self.$field = template.$field.clone(),
                        FieldState::Null => self.nulls |= 1 << Index::$field as u64,
                        FieldState::Absent => {}
                    })*
                    Some(())
                }
            }

            impl $name {
                /// The names of its fields in JSON, in the order of their declaration.
                pub const FIELD_NAMES: &'static [&'static str] = &[$($json),*];

                /// Whether a field was an explicit null.
                #[inline]
                pub fn is_null(&self, json: &str) -> bool {
                    if self.nulls == 0 {
                        return false;
                    }
                    let index = match json {
                        $($json => Index::$field as u64,)*
                        _ => return false,
                    };
                    self.nulls & (1 << index) != 0
                }

                /// A field that was there with something in it that means nothing to us: no check can have
                /// looked at it, and it would be told again all the same.
                #[inline]
                pub fn unreadable(&self) -> Option<&str> {
                    let is_unreadable = |name: &str| match name {
                        $($json => self.$field.is_none(),)*
                        _ => false,
                    };
                    let odd = self.extras.iter();
                    odd.filter(|(name, text)| is_unreadable(name) && !json_value::is_blank(text))
                        .map(|(name, _)| name.as_ref())
                        .next()
                }

                fn is_odd(&self, json: &str) -> bool {
                    self.extras.iter().any(|(name, _)| name.as_ref() == json)
                }

                pub fn write_json(&self, out: &mut Vec<u8>) {
                    out.push(b'{');
                    let mut first = true;
                    self.write_fields(out, &mut first);
                    out.push(b'}');
                }

                /// The fields alone, so that a caller can add its own to the same object.
                pub fn write_fields(&self, out: &mut Vec<u8>, first: &mut bool) {
                    $(if self.is_odd($json) {
                    } else if let Some(value) = &self.$field {
                        object::begin_field(out, first, $json);
                        value.write_json(out);
                    } else if self.nulls & (1 << Index::$field as u64) != 0 {
                        object::begin_field(out, first, $json);
                        out.extend_from_slice(b"null");
                    })*
                    for (name, text) in &self.extras {
                        // A field's name comes from the node and may need escaping.
                        let quoted = serde_json::Value::from(name.as_ref()).to_string();
                        let inside = quoted.get(1..quoted.len() - 1).unwrap_or_default();
                        object::begin_field(out, first, inside);
                        out.extend_from_slice(text.as_bytes());
                    }
                }
            }

            impl JsonValue for Vec<$name> {
                fn read_json(text: &[u8]) -> Option<(Self, bool)> {
                    Some((object::read_list(&mut Reader::new(text))?, true))
                }
                fn write_json(&self, out: &mut Vec<u8>) {
                    json_value::write_list(self, out, |item, out| item.write_json(out));
                }
                fn next_slot(reader: &mut Reader<'_>) -> Option<Slot<Self>> {
                    match reader.peek()? {
                        b'n' => (reader.value()? == b"null").then_some(Slot::Null),
                        _ => object::read_list(reader).map(Slot::Value),
                    }
                }
            }
        };
    };
}
