//! The data folder as files, before and beside the engine: what must be there, whether the log is
//! whole, what was durable, how much room is left, and who may read it.
//!
//! The engine itself drops the end of its log from the first byte on that it cannot read, and removes
//! tables that its own lists do not name. So everything is looked at before it is opened.

pub mod creation;
mod damage;
mod log;
mod modes;
mod preflight;
mod record;
mod space;
mod versions;

pub use damage::Damage;
pub use log::{Tail, WRITES_KEY, first_gap, read_all as read_logs};
pub use modes::{private_from_now_on, tighten};
pub use preflight::{
    Aside, FolderState, LOCK, VERSION, cut, last_write, lock, look, move_aside, tables,
};
pub use record::{ChainMark, Found, Mark, Record};
pub use space::Space;
pub use versions::find_damaged_file;
