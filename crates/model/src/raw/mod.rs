//! Chain objects as nodes send them: block, transaction, receipt, log, trace frame.
//!
//! In: JSON-RPC text. Out: structs that can be written back field for field. Nothing here judges what
//! it reads, which is `verify`'s part, or knows how it is stored.

mod block;
mod call_tree;
pub mod fields;
mod frame;
pub mod json_value;
pub mod member_order;
pub mod object;
pub mod reader;
mod receipt;
mod record;
mod same_json;
mod trace_fault;
mod trace_form;
mod trace_geth;
mod trace_list;
mod trace_parity;
mod tx;
pub mod tx_rlp;

#[cfg(test)]
mod tests;

pub use block::{Header, Withdrawal};
pub use frame::{Frame, FrameKind};
pub use receipt::{Log, Receipt};
pub use record::{
    Block, Malformed, read_header, read_header_and_hashes, read_receipt_list, read_receipts,
};
pub use trace_fault::TraceFault;
pub use trace_form::{BlockTraces, TraceForm};
pub use trace_parity::read_parity_traces;
pub use tx::{AccessListItem, Authorization, Tx};
