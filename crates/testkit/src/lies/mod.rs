//! Blocks and receipts changed in one place each, so that something else in them contradicts the change.
//!
//! In: what a node answers about a block. Out: the same with one field of one object altered, taken away, put
//! where it does not belong or made unreadable. [`all`] lists every such change; a block has the objects
//! for some of them only (`apply` says which).

mod edit;
mod fields;
mod trace;
mod trace_frames;

use serde_json::Value;

pub use edit::Edit;
use fields::{BLOB, CREATIONS, FIELDS, FieldLies, SET_CODE};
pub use trace::TraceLie;

/// Which object of a block is changed: always the first of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    Header,
    Withdrawal,
    /// Of that type, or of any.
    Tx(Option<u8>),
    /// One that makes a contract.
    CreationTx,
    /// All of them at once.
    EveryTx,
    AccessListItem,
    Authorization,
    Receipt(Option<u8>),
    /// Of a transaction that makes no contract.
    CallReceipt,
    CreationReceipt,
    Log,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLie {
    pub object: Object,
    pub field: &'static str,
    pub edit: Edit,
}

impl std::fmt::Display for BlockLie {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?} {} {:?}", self.object, self.field, self.edit)
    }
}

/// Every change there is.
pub fn all() -> Vec<BlockLie> {
    let mut lies = Vec::new();
    for FieldLies { objects, field, edits } in
        FIELDS.iter().chain(CREATIONS).chain(BLOB).chain(SET_CODE)
    {
        for object in *objects {
            lies.extend(edits.iter().map(|edit| BlockLie { object: *object, field, edit: *edit }));
        }
    }
    lies
}

impl BlockLie {
    /// False, and nothing changed, where the answer has no such object, or where the change would leave it
    /// as it is. Takes a block with whole transactions, a list of receipts, or one receipt.
    pub fn apply(&self, answer: &mut Value) -> bool {
        let every = self.object == Object::EveryTx;
        let mut objects = self.objects(answer);
        if !every {
            objects.truncate(1);
        }
        let mut changed = false;
        for object in objects {
            changed |= self.edit.apply(object, self.field);
        }
        changed
    }

    /// Whether answers of this kind hold what is changed.
    pub fn is_about_receipts(&self) -> bool {
        use Object::{CallReceipt, CreationReceipt, Log, Receipt};
        matches!(self.object, Receipt(_) | CallReceipt | CreationReceipt | Log)
    }

    fn objects<'a>(&self, answer: &'a mut Value) -> Vec<&'a mut Value> {
        if self.is_about_receipts() {
            return self.in_receipts(answer);
        }
        if !answer.get("transactions").is_some_and(Value::is_array) {
            return Vec::new();
        }
        let txs = |answer: &'a mut Value| items(answer, "transactions");
        match self.object {
            Object::Header => vec![answer],
            Object::Withdrawal => items(answer, "withdrawals").collect(),
            Object::Tx(kind) => txs(answer).filter(|tx| is_of(tx, kind)).collect(),
            Object::CreationTx => txs(answer).filter(|tx| is_creation(tx)).collect(),
            Object::EveryTx => txs(answer).collect(),
            Object::AccessListItem => txs(answer).flat_map(|tx| items(tx, "accessList")).collect(),
            Object::Authorization => {
                txs(answer).flat_map(|tx| items(tx, "authorizationList")).collect()
            }
            _ => Vec::new(),
        }
    }

    fn in_receipts<'a>(&self, answer: &'a mut Value) -> Vec<&'a mut Value> {
        let list: Vec<&mut Value> = match answer {
            Value::Array(list) => list.iter_mut().collect(),
            one if one.get("cumulativeGasUsed").is_some() => vec![one],
            _ => Vec::new(),
        };
        let list = list.into_iter();
        match self.object {
            Object::Receipt(kind) => list.filter(|receipt| is_of(receipt, kind)).collect(),
            Object::CallReceipt => list.filter(|receipt| !is_creation(receipt)).collect(),
            Object::CreationReceipt => list.filter(|receipt| is_creation(receipt)).collect(),
            _ => list.flat_map(|receipt| items(receipt, "logs")).collect(),
        }
    }
}

fn items<'a>(object: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    object.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

fn is_of(object: &Value, kind: Option<u8>) -> bool {
    let told = object.get("type").and_then(Value::as_str).unwrap_or("0x0");
    object.is_object() && kind.is_none_or(|kind| told == format!("{kind:#x}"))
}

fn is_creation(object: &Value) -> bool {
    object.get("to").is_none_or(Value::is_null)
}
