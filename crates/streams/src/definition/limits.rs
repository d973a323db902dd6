//! How large each part of a definition may be: far above what anyone needs, so that a stranger's body cannot make
//! the server work or remember without end. Characters are Unicode characters.

pub(super) const WEBHOOK_URL_CHARS_MAX: usize = 2_048;
pub(super) const DESCRIPTION_CHARS_MAX: usize = 1_000;
pub(super) const TAG_CHARS_MAX: usize = 1_000;
pub(super) const CHAIN_IDS_MAX: usize = 100;
/// Addresses of a question for one block; streams take theirs by their own operations.
pub(super) const ADDRESSES_MAX: usize = 10_000;

pub(super) const TOPIC0_MAX: usize = 500;
pub(super) const SIGNATURE_CHARS_MAX: usize = 2_000;

pub(super) const ABI_ITEMS_MAX: usize = 1_000;
/// Inputs, outputs and components of one list.
pub(super) const ABI_PARAMS_MAX: usize = 100;
/// Names and types within an ABI.
pub(super) const ABI_TEXT_CHARS_MAX: usize = 200;
/// Arrays and tuples within each other.
pub(super) const TYPE_DEPTH_MAX: usize = 8;
/// 32-byte words that a value has without what its dynamic parts point to.
pub(super) const TYPE_WORDS_MAX: usize = 1_024;

pub(super) const ADVANCED_OPTIONS_MAX: usize = 500;
/// `and` and `or` within each other.
pub(super) const FILTER_DEPTH_MAX: usize = 10;
/// Comparisons in one filter, and values of one `in`.
pub(super) const FILTER_CONDITIONS_MAX: usize = 1_000;
pub(super) const FILTER_VALUES_MAX: usize = 10_000;
pub(super) const FILTER_TEXT_CHARS_MAX: usize = 1_000;

pub(super) const TRIGGERS_MAX: usize = 50;
/// Entries of one list of trigger inputs, and characters of one entry.
pub(super) const TRIGGER_INPUTS_MAX: usize = 1_000;
pub(super) const TRIGGER_INPUT_CHARS_MAX: usize = 10_000;

pub(super) const NATIVE_BALANCES_MAX: usize = 50;
pub(super) const SELECTORS_MAX: usize = 20;

/// Lists and objects within each other; more than every part above needs.
pub(super) const JSON_DEPTH_MAX: usize = 64;
/// Errors told of one body.
pub(super) const ERRORS_MAX: usize = 100;
/// Characters of a wrong value or key that are told back, and of what is said about it.
pub(super) const ERROR_VALUE_CHARS_MAX: usize = 200;
pub(super) const ERROR_MESSAGE_CHARS_MAX: usize = 1_000;

/// The largest integer that JavaScript reads and writes without loss.
pub(super) const JS_INTEGER_MAX: u64 = (1 << 53) - 1;
