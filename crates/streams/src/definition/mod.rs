//! What a user may configure of a stream: read from JSON, checked, kept in one form (`Definition`), and made ready
//! for matching (`Compiled`).
//!
//! Must not know: blocks, the store, HTTP.

mod abi_check;
mod balance_rule;
mod body;
mod chain_id;
mod check;
mod compiled;
mod condition;
mod error;
mod event_abi;
mod event_rule;
mod filter;
mod integer;
mod item;
mod json;
mod limits;
mod read_abi;
mod read_options;
mod selector;
mod signature;
mod sol_decode;
mod sol_type;
mod sol_value;
mod stream;
mod trigger_check;
mod trigger_rule;
mod webhook_url;

pub use balance_rule::BalanceRule;
pub use body::{read_block_query, read_create, read_update};
pub use compiled::Compiled;
pub use error::{DefinitionError, FieldError};
pub use event_abi::LogView;
pub use event_rule::EventRule;
pub use item::{FieldKind, ItemKind};
pub use sol_value::value_text;
pub use stream::{AbiItem, AbiParam, AdvancedOption, Definition, NativeBalances, Trigger};
pub use trigger_rule::{TriggerCall, TriggerRule};
