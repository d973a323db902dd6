//! JSON-RPC objects, packed against a *template*: an object with the fields that follow from the
//! surroundings (block hash, index …). A field equal to the template's costs two bits.
//!
//! The bytes: two bits for every field and two for extras, four to a byte, the first field lowest;
//! then the values that the bits tell of, in the order of the fields; then extras.

use model::raw::fields::{
    Field, FieldState, FieldStates, FieldValues, FieldVisitor, FillFields, VisitFields,
};
use model::raw::object::{Extras, Object};
use model::raw::{AccessListItem, Authorization, Header, Log, Receipt, Tx, Withdrawal};

use super::bytes::{put_counted, take_bytes, take_text};
use super::value::{Packed, unpack_list};
use super::varint::put_varint;

// What the two bits of a field say.
const ABSENT: u8 = 0;
const NULL: u8 = 1;
const VALUE: u8 = 2;
const AS_TEMPLATE: u8 = 3;

pub trait PackedObject:
    Object + for<'a> VisitFields<Packer<'a>> + for<'a> FillFields<Unpacker<'a>>
{
    /// One more state than fields: the last says whether extras follow.
    const STATE_BYTES: usize = (Self::FIELD_COUNT + 1).div_ceil(4);

    fn pack_with(&self, template: &Self, out: &mut Vec<u8>) {
        const { assert!(Self::FIELD_COUNT < 64, "no bits left for extras") };
        let start = out.len();
        out.resize(start + Self::STATE_BYTES, 0);
        let mut packer = Packer { out, states: States::default() };
        self.visit_fields(template, &mut packer);
        let Packer { out, mut states } = packer;
        if !self.extras().is_empty() {
            states.set(Self::FIELD_COUNT, VALUE);
            pack_extras(self.extras(), out);
        }
        if let Some(target) = out.get_mut(start..) {
            states.write(Self::STATE_BYTES, target);
        }
    }

    /// `None` means the bytes are not what `pack_with` wrote with this template.
    fn unpack_with(template: &Self, input: &mut &[u8]) -> Option<Self> {
        let mut object = Self::default();
        object.fill_with(template, input)?;
        Some(object)
    }

    /// The same for an empty one, where it lies: each hand that a large object goes through copies it.
    fn fill_with(&mut self, template: &Self, input: &mut &[u8]) -> Option<()> {
        let states = States::read(take_bytes(input, Self::STATE_BYTES)?)?;
        let mut unpacker = Unpacker { input, states };
        self.fill_fields(template, &mut unpacker)?;
        *input = unpacker.input;
        if states.get(Self::FIELD_COUNT) != ABSENT {
            *self.extras_mut() = unpack_extras(input)?;
        }
        Some(())
    }
}

impl PackedObject for Header {}
impl PackedObject for Withdrawal {}
impl PackedObject for Tx {}
impl PackedObject for AccessListItem {}
impl PackedObject for Authorization {}
impl PackedObject for Receipt {}
impl PackedObject for Log {}

/// The states of all fields, two bits each. Small functions on the path of every field are inlined by
/// order: the field's index is a constant there, so that a state is one byte and a known shift.
#[derive(Clone, Copy, Default)]
struct States([u8; 16]);

impl States {
    #[inline(always)]
    fn get(&self, field: usize) -> u8 {
        self.0.get(field / 4).map_or(ABSENT, |byte| (byte >> (2 * (field % 4))) & 3)
    }

    #[inline(always)]
    fn set(&mut self, field: usize, state: u8) {
        if let Some(byte) = self.0.get_mut(field / 4) {
            *byte |= state << (2 * (field % 4));
        }
    }

    /// To the front of `target`.
    #[inline]
    fn write(&self, length: usize, target: &mut [u8]) {
        if let (Some(target), Some(bytes)) = (target.get_mut(..length), self.0.get(..length)) {
            target.copy_from_slice(bytes);
        }
    }

    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut states = States::default();
        states.0.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(states)
    }
}

/// Writes values and notes states.
pub struct Packer<'a> {
    out: &'a mut Vec<u8>,
    states: States,
}

impl<T: Packed + PartialEq> FieldVisitor<T> for Packer<'_> {
    #[inline(always)]
    fn visit(&mut self, field: Field<'_, T>) {
        let state = match field.value {
            Some(_) if field.value == field.template => AS_TEMPLATE,
            Some(value) => {
                value.pack(self.out);
                VALUE
            }
            None if field.is_null => NULL,
            None => ABSENT,
        };
        self.states.set(field.index, state);
    }
}

/// Reads the values that the states tell of.
pub struct Unpacker<'a> {
    input: &'a [u8],
    states: States,
}

impl FieldStates for Unpacker<'_> {
    #[inline(always)]
    fn state(&self, index: usize) -> FieldState {
        match self.states.get(index) {
            VALUE => FieldState::Value,
            AS_TEMPLATE => FieldState::AsTemplate,
            NULL => FieldState::Null,
            _ => FieldState::Absent,
        }
    }
}

impl<T: Packed> FieldValues<T> for Unpacker<'_> {
    #[inline(always)]
    fn next_value(&mut self) -> Option<T> {
        T::unpack(&mut self.input)
    }
}

fn pack_extras(extras: &Extras, out: &mut Vec<u8>) {
    put_varint(out, extras.len() as u64);
    for part in extras.iter().flat_map(|(name, text)| [name, text]) {
        put_counted(out, part.as_bytes());
    }
}

fn unpack_extras(input: &mut &[u8]) -> Option<Extras> {
    unpack_list(input, |input| Some((take_text(input)?.into(), take_text(input)?.into())))
}

/// Inside another object nothing is known of an object's surroundings: the template is empty.
impl<T: PackedObject> Packed for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        put_varint(out, self.len() as u64);
        let template = T::default();
        self.iter().for_each(|item| item.pack_with(&template, out));
    }
    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let template = T::default();
        unpack_list(input, |input| T::unpack_with(&template, input))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const ODD_TX: &str = r#"{"hash":"0x00000000000000000000000000000000000000000000000000000000000000aa",
     "from":"0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF","to":null,"nonce":"0x07","gas":21000,"value":"0xde0b6b3a7640000",
     "input":"0x","type":"0x0","v":"0x1b","chainId":"0x1","fork\"field":{"a":[1,2,{"b":null}]},"gasPrice":null,"accessList":null}"#;

    fn odd_tx() -> Tx {
        serde_json::from_str(ODD_TX).unwrap()
    }

    fn packed(tx: &Tx, template: &Tx) -> Vec<u8> {
        let mut out = Vec::new();
        tx.pack_with(template, &mut out);
        out
    }

    #[test]
    fn unknown_fields_odd_forms_and_nulls_survive_packing() {
        let (tx, template) = (odd_tx(), Tx { chain_id: Some(1), ..Tx::default() });
        let back = Tx::unpack_with(&template, &mut packed(&tx, &template).as_slice()).unwrap();
        assert_eq!(back, tx);
        let mut json = Vec::new();
        back.write_json(&mut json);
        let expected: Value = serde_json::from_str(ODD_TX).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&json).unwrap(), expected);
    }

    #[test]
    fn a_field_that_follows_from_the_block_costs_two_bits() {
        let tx = odd_tx();
        let alone = packed(&tx, &Tx::default());
        let with_template = packed(&tx, &Tx { hash: tx.hash, ..Tx::default() });
        assert_eq!(alone.len(), with_template.len() + 32);
    }

    #[test]
    fn cut_bytes_never_unpack_and_never_panic() {
        let packed = packed(&odd_tx(), &Tx::default());
        for length in 0..packed.len() {
            assert_eq!(Tx::unpack_with(&Tx::default(), &mut &packed[..length]), None);
        }
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = Header::unpack_with(&Header::default(), &mut bytes.as_slice());
            let _ = Tx::unpack_with(&odd_tx(), &mut bytes.as_slice());
            let _ = Receipt::unpack_with(&Receipt::default(), &mut bytes.as_slice());
            let _ = Log::unpack_with(&Log::default(), &mut bytes.as_slice());
        }
    }
}
