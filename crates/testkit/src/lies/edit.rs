//! One change of one field.

use serde_json::Value;

use crate::node::{bump, flip, grow};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// One more than it was; where it is there.
    Bump,
    /// Another last digit; where it is there.
    Flip,
    /// One byte more at the end; where it is there.
    Grow,
    /// This JSON; whether it was there or not.
    Put(&'static str),
    /// This JSON, where nothing (or null) stands.
    Add(&'static str),
    /// This JSON, where something stands.
    Replace(&'static str),
    Remove,
    /// A list without its first item.
    DropFirst,
}

impl Edit {
    /// Whether it changed anything.
    pub(super) fn apply(self, object: &mut Value, field: &str) -> bool {
        let before = object.get(field).cloned();
        let is_there = before.as_ref().is_some_and(|value| !value.is_null());
        match self {
            Edit::Bump => bump(object, field),
            Edit::Flip => flip(object, field),
            Edit::Grow => grow(object, field),
            Edit::Put(json) => put(object, field, json),
            Edit::Add(json) if !is_there => put(object, field, json),
            Edit::Replace(json) if is_there => put(object, field, json),
            Edit::Add(_) | Edit::Replace(_) => {}
            Edit::Remove => {
                object.as_object_mut().and_then(|fields| fields.remove(field));
            }
            Edit::DropFirst => {
                let list = object.get_mut(field).and_then(Value::as_array_mut);
                if let Some(list) = list.filter(|list| !list.is_empty()) {
                    list.remove(0);
                }
            }
        }
        object.get(field) != before.as_ref()
    }
}

fn put(object: &mut Value, field: &str, json: &str) {
    if let (Some(fields), Ok(value)) = (object.as_object_mut(), serde_json::from_str(json)) {
        fields.insert(field.to_owned(), value);
    }
}
