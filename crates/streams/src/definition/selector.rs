//! `$name`: a field of the item for which a trigger or a balance is asked.
//!
//! In: texts of triggers and balances. Out: sources of values, checked to exist and to be of a type that fits.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::Address;
use serde_json::Value;

use super::{
    event_abi::{EventAbi, EventPlace},
    item::{FieldKind, ItemKind},
    sol_type::type_name,
    sol_value::{parse_address, parse_value},
};

/// The fields that selectors may name: those of the kind, and the inputs of a log trigger's event.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectorScope<'a> {
    pub kind: ItemKind,
    /// More than one if the ABI has the event with several layouts.
    pub events: &'a [EventAbi],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AddressSource {
    Fixed(Address),
    /// Without `$`.
    Field(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum InputSource {
    Fixed(DynSolValue),
    Field {
        name: String,
        ty: DynSolType,
    },
    /// The type says whether it is an array or a tuple.
    List {
        ty: DynSolType,
        parts: Vec<InputSource>,
    },
}

impl SelectorScope<'_> {
    /// An address, or the name of a field that holds one.
    pub(super) fn address(&self, text: &str) -> Result<AddressSource, String> {
        match text.strip_prefix('$') {
            Some(name) => self.address_field(name).map(AddressSource::Field),
            None => parse_address(text).map(AddressSource::Fixed).ok_or_else(|| {
                format!("`{text}` is neither an address nor a selector such as $contract")
            }),
        }
    }

    pub(super) fn address_field(&self, name: &str) -> Result<String, String> {
        if self.field_fits(name, &DynSolType::Address)? {
            return Ok(name.to_owned());
        }
        let kind = self.kind.name();
        Err(format!("`${name}` of {kind} is not an address: use {}", self.address_names()))
    }

    /// A literal, a selector, or lists of them, for a value of this type.
    pub(super) fn input(&self, ty: &DynSolType, value: &Value) -> Result<InputSource, String> {
        match (ty, value) {
            (DynSolType::Array(inner), Value::Array(list)) => {
                self.list(ty, list.iter().map(|value| (inner.as_ref(), value)))
            }
            (DynSolType::FixedArray(inner, size), Value::Array(list)) if list.len() == *size => {
                self.list(ty, list.iter().map(|value| (inner.as_ref(), value)))
            }
            (DynSolType::Tuple(types), Value::Array(list)) if list.len() == types.len() => {
                self.list(ty, types.iter().zip(list))
            }
            (DynSolType::Array(_) | DynSolType::FixedArray(..) | DynSolType::Tuple(_), _) => {
                Err(format!("`{value}` is not a list for type {}", type_name(ty)))
            }
            (_, Value::String(text)) => self.scalar(ty, text),
            _ => Err(format!("`{value}` is not a text for type {}", type_name(ty))),
        }
    }

    fn list<'t>(
        &self,
        ty: &DynSolType,
        parts: impl Iterator<Item = (&'t DynSolType, &'t Value)>,
    ) -> Result<InputSource, String> {
        let parts = parts.map(|(ty, value)| self.input(ty, value)).collect::<Result<_, _>>()?;
        Ok(InputSource::List { ty: ty.clone(), parts })
    }

    fn scalar(&self, ty: &DynSolType, text: &str) -> Result<InputSource, String> {
        let Some(name) = text.strip_prefix('$') else {
            return parse_value(ty, text).map(InputSource::Fixed);
        };
        if self.field_fits(name, ty)? {
            return Ok(InputSource::Field { name: name.to_owned(), ty: ty.clone() });
        }
        Err(format!("`${name}` of {} does not fit type {}", self.kind.name(), type_name(ty)))
    }

    /// The event's own names come first: who named an event means its fields.
    fn field_fits(&self, name: &str, ty: &DynSolType) -> Result<bool, String> {
        let mut inputs = self.events.iter().filter_map(|event| event.input(name)).peekable();
        if inputs.peek().is_some() {
            return Ok(inputs.any(|input| {
                let indexed = matches!(input.place, EventPlace::Topic(_));
                event_field_fits(&input.ty, indexed, ty)
            }));
        }
        match self.kind.field(name) {
            Some(field) => Ok(item_field_fits(field, ty)),
            None => {
                let kind = self.kind.name();
                Err(format!("`${name}` is not a field of {kind}: use {}", self.names()))
            }
        }
    }

    fn names(&self) -> String {
        let fields = self.kind.fields().iter().map(|(name, _)| *name);
        self.listed(fields.chain(self.event_names()))
    }

    fn address_names(&self) -> String {
        let address = |name: &&str| self.field_fits(name, &DynSolType::Address) == Ok(true);
        let fields = self.kind.fields().iter().map(|(name, _)| *name);
        self.listed(fields.chain(self.event_names()).filter(address))
    }

    fn event_names(&self) -> impl Iterator<Item = &str> {
        self.events
            .iter()
            .flat_map(|event| event.inputs.iter().map(|input| input.name.as_str()))
            .filter(|name| !name.is_empty())
    }

    fn listed<'n>(&self, names: impl Iterator<Item = &'n str>) -> String {
        let mut listed: Vec<String> = Vec::new();
        for name in names {
            let name = format!("${name}");
            if !listed.contains(&name) {
                listed.push(name);
            }
        }
        listed.join(", ")
    }
}

/// Every field has a text; other types must hold what the field holds.
fn item_field_fits(field: FieldKind, ty: &DynSolType) -> bool {
    match ty {
        DynSolType::String => true,
        DynSolType::Address => field == FieldKind::Address,
        DynSolType::Uint(_) | DynSolType::Int(_) => field == FieldKind::Integer,
        DynSolType::Bool => field == FieldKind::Bool,
        DynSolType::FixedBytes(32) => field == FieldKind::Word,
        DynSolType::Bytes => {
            matches!(field, FieldKind::Bytes | FieldKind::Word | FieldKind::Address)
        }
        _ => false,
    }
}

fn event_field_fits(field: &DynSolType, indexed: bool, ty: &DynSolType) -> bool {
    match (field, ty) {
        (DynSolType::Array(_) | DynSolType::FixedArray(..) | DynSolType::Tuple(_), _) => false,
        (_, DynSolType::String) => true,
        (DynSolType::Uint(_) | DynSolType::Int(_), DynSolType::Uint(_) | DynSolType::Int(_)) => {
            true
        }
        // A topic has the hash of these.
        (DynSolType::Bytes | DynSolType::String, _) if indexed => {
            matches!(ty, DynSolType::FixedBytes(32) | DynSolType::Bytes)
        }
        (DynSolType::FixedBytes(_) | DynSolType::Address, DynSolType::Bytes) => true,
        _ => field == ty,
    }
}

impl AddressSource {
    pub(super) fn resolve(
        &self,
        field: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Address, String> {
        match self {
            Self::Fixed(address) => Ok(*address),
            Self::Field(name) => {
                let text = given(field, name)?;
                parse_address(&text).ok_or_else(|| format!("`{text}` in ${name} is no address"))
            }
        }
    }
}

impl InputSource {
    pub(super) fn resolve(
        &self,
        field: &dyn Fn(&str) -> Option<String>,
    ) -> Result<DynSolValue, String> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Field { name, ty } => {
                parse_value(ty, &given(field, name)?).map_err(|error| format!("${name}: {error}"))
            }
            Self::List { ty, parts } => {
                let values =
                    parts.iter().map(|part| part.resolve(field)).collect::<Result<_, _>>()?;
                Ok(match ty {
                    DynSolType::Tuple(_) => DynSolValue::Tuple(values),
                    DynSolType::FixedArray(..) => DynSolValue::FixedArray(values),
                    _ => DynSolValue::Array(values),
                })
            }
        }
    }
}

fn given(field: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<String, String> {
    field(name).ok_or_else(|| format!("${name} is null in this item"))
}
