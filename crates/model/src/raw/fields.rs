//! The fields of an object, one by one, for code that treats all objects alike: a codec, for one.
//!
//! `rpc_object!` writes these walks, so that the list of fields stands in one place. They go through
//! the fields in the order of their declaration, along a *template*: another object of the kind, with
//! what is expected. They are generic over who walks, field type by field type, so the compiler makes
//! of them what one would write by hand for each object.

use super::object::Object;

/// A field, and the same field of the template.
pub struct Field<'a, T> {
    /// Its place in the declaration.
    pub index: usize,
    pub value: &'a Option<T>,
    /// Whether a field without a value is an explicit null.
    pub is_null: bool,
    pub template: &'a Option<T>,
}

/// Is shown fields that hold a `T`.
pub trait FieldVisitor<T> {
    fn visit(&mut self, field: Field<'_, T>);
}

/// Shows all its fields to a visitor.
pub trait VisitFields<V>: Object {
    fn visit_fields(&self, template: &Self, visitor: &mut V);
}

/// What a field is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldState {
    Absent,
    Null,
    Value,
    /// Whatever the template holds.
    AsTemplate,
}

pub trait FieldStates {
    fn state(&self, index: usize) -> FieldState;
}

/// Gives the values of fields that hold a `T`.
pub trait FieldValues<T> {
    /// `None` ends the walk: there is no such object.
    fn next_value(&mut self) -> Option<T>;
}

/// Takes all its fields from a source of states and values. Explicit nulls are noted, extras are not
/// among the fields.
pub trait FillFields<S>: Object {
    /// In place, as these structs are large. `None` where the source had no value for a field.
    fn fill_fields(&mut self, template: &Self, source: &mut S) -> Option<()>;
}
