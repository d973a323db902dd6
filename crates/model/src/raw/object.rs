//! A JSON-RPC object as a struct that forgets nothing.
//!
//! `rpc_object!` turns a list of fields into a struct of `Option`s with: reading from JSON without
//! an intermediate tree, writing JSON, and a compact binary form. Fields we do not know, and values
//! in a form of their own, are kept as text in `extras`; explicit nulls in `nulls`. So what a node
//! said can be said again, field for field, for chains and forks nobody told us of.
//!
//! The binary form takes a *template*: a value with the fields that follow from the surroundings
//! (block hash, index …). A field equal to the template's costs two bits.

use super::reader::Reader;

/// Reads itself in place: these structs are large, and a block has thousands of them.
pub trait Object: Default {
    /// `None` where the text is no such object; what was read till then stays.
    fn read_into(&mut self, reader: &mut Reader<'_>) -> Option<()>;
}

pub fn read_list<T: Object>(reader: &mut Reader<'_>) -> Option<Vec<T>> {
    let mut list = Vec::new();
    reader.expect(b'[')?;
    let mut is_first = true;
    while reader.next_item(b']', &mut is_first)? {
        let before = reader.rest().len();
        list.push(T::default());
        list.last_mut()?.read_into(reader)?;
        if list.len() == 1 && size_of::<T>() >= LARGE {
            let rest = reader.rest().len();
            // Never more memory than text, however short the first one is.
            list.reserve(rest / (before - rest).max(size_of::<T>()));
        }
    }
    Some(list)
}

/// Transactions and receipts: their lists fill the text they stand in, so the first tells how many
/// there will be. Moving them when a list grows costs as much as reading some fields.
const LARGE: usize = 512;

/// Text of fields the struct has no place for: name and JSON value.
pub type Extras = Vec<(Box<str>, Box<str>)>;

/// What the two bits of a field say.
pub mod state {
    pub const ABSENT: u8 = 0;
    pub const NULL: u8 = 1;
    pub const VALUE: u8 = 2;
    pub const AS_TEMPLATE: u8 = 3;
}

/// Writes `"name":` with the comma that separates it from the field before.
pub fn begin_field(out: &mut Vec<u8>, first: &mut bool, name: &str) {
    if !std::mem::take(first) {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

pub fn pack_extras(extras: &Extras, out: &mut Vec<u8>) {
    use super::wire::put_varint;
    put_varint(out, extras.len() as u64);
    for part in extras.iter().flat_map(|(name, text)| [name, text]) {
        put_varint(out, part.len() as u64);
        out.extend_from_slice(part.as_bytes());
    }
}

pub fn unpack_extras(input: &mut &[u8]) -> Option<Extras> {
    use super::wire::{take_bytes, take_varint, unpack_list};
    fn text(input: &mut &[u8]) -> Option<Box<str>> {
        let length = usize::try_from(take_varint(input)?).ok()?;
        Some(std::str::from_utf8(take_bytes(input, length)?).ok()?.into())
    }
    unpack_list(input, |input| Some((text(input)?, text(input)?)))
}

/// Reads and writes the two-bit states, four to a byte.
pub struct States<'a>(pub &'a [u8]);

impl States<'_> {
    pub fn get(&self, field: usize) -> u8 {
        self.0.get(field / 4).map_or(state::ABSENT, |byte| (byte >> (2 * (field % 4))) & 3)
    }
}

pub fn set_state(out: &mut [u8], field: usize, value: u8) {
    if let Some(byte) = out.get_mut(field / 4) {
        *byte |= value << (2 * (field % 4));
    }
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
            use $crate::raw::object::{self, Object, state};
            use $crate::raw::reader::Reader;
            use $crate::raw::wire::{self, Slot, Wire};

            #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "one index per field")]
            #[derive(Clone, Copy)]
            enum Index { $($field,)* COUNT }
            /// One more state than fields: the last says whether extras follow.
            const STATE_BYTES: usize = (Index::COUNT as usize + 1).div_ceil(4);

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
                fn read_into(&mut self, reader: &mut Reader<'_>) -> Option<()> {
                    reader.expect(b'{')?;
                    let mut is_first = true;
                    while let Some(name) = reader.next_name(&mut is_first)? {
                        match name.as_ref() {
                            $(name if name == $json.as_bytes() => {
                                match <$kind as Wire>::next_slot(reader)? {
                                    Slot::Value(value) => self.$field = Some(value),
                                    Slot::Null => self.nulls |= 1 << Index::$field as u64,
                                    Slot::Odd(value, text) => {
                                        self.$field = value;
                                        self.extras.push(($json.into(), text));
                                    }
                                }
                            })*
                            other => {
                                let name = std::str::from_utf8(other).ok()?.into();
                                self.extras.push((name, reader.checked()?.into()));
                            }
                        }
                    }
                    Some(())
                }
            }

            impl $name {
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

                pub fn pack_with(&self, template: &Self, out: &mut Vec<u8>) {
                    let start = out.len();
                    out.resize(start + STATE_BYTES, 0);
                    let mut states = [0u8; STATE_BYTES];
                    $(let state = match &self.$field {
                        Some(_) if self.$field == template.$field => state::AS_TEMPLATE,
                        Some(value) => { value.pack(out); state::VALUE }
                        None if self.nulls & (1 << Index::$field as u64) != 0 => state::NULL,
                        None => state::ABSENT,
                    };
                    object::set_state(&mut states, Index::$field as usize, state);)*
                    if !self.extras.is_empty() {
                        object::set_state(&mut states, Index::COUNT as usize, state::VALUE);
                        object::pack_extras(&self.extras, out);
                    }
                    if let Some(target) = out.get_mut(start..start + STATE_BYTES) {
                        target.copy_from_slice(&states);
                    }
                }

                /// `None` means the bytes are not what `pack_with` wrote with this template.
                pub fn unpack_with(template: &Self, input: &mut &[u8]) -> Option<Self> {
                    let states = object::States(wire::take_bytes(input, STATE_BYTES)?);
                    let mut object = $name::default();
                    $(match states.get(Index::$field as usize) {
                        state::VALUE => object.$field = Some(<$kind as Wire>::unpack(input)?),
                        state::AS_TEMPLATE => object.$field = template.$field.clone(),
                        state::NULL => object.nulls |= 1 << Index::$field as u64,
                        _ => {}
                    })*
                    if states.get(Index::COUNT as usize) != state::ABSENT {
                        object.extras = object::unpack_extras(input)?;
                    }
                    Some(object)
                }

                /// Marks every field named as explicitly null, for objects made by ourselves.
                pub fn is_null(&self, json: &str) -> bool {
                    match json {
                        $($json => self.$field.is_none() && self.nulls & (1 << Index::$field as u64) != 0,)*
                        _ => false,
                    }
                }
            }

            impl Wire for Vec<$name> {
                fn read_json(text: &[u8]) -> Option<(Self, bool)> {
                    Some((object::read_list(&mut Reader::new(text))?, true))
                }
                fn write_json(&self, out: &mut Vec<u8>) {
                    wire::write_list(self, out, |item, out| item.write_json(out));
                }
                fn pack(&self, out: &mut Vec<u8>) {
                    wire::put_varint(out, self.len() as u64);
                    let template = $name::default();
                    self.iter().for_each(|item| item.pack_with(&template, out));
                }
                fn unpack(input: &mut &[u8]) -> Option<Self> {
                    let template = $name::default();
                    wire::unpack_list(input, |input| $name::unpack_with(&template, input))
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
