//! What of a block never changes: its transactions, receipts, logs and traces, packed and written once.
//!
//! In: the groups of rows of a block. Out: the same groups again. The groups are packed into frames with a
//! dictionary of their chain, and the frames of one block, its body, lie together: in an append-only file
//! (a segment) behind all that was written before, or, for blocks near the head, in the engine's own row.
//! The engine's row of a body says where it lies and where in it each frame begins. A segment's bytes are on
//! disk before the engine's write that leads to them; what lies behind the last of those leads nowhere and
//! is overwritten. So the engine alone decides what is stored, at every moment (docs/adr/0012).
//! Must not know: what the rows mean.

mod bodies;
mod body_row;
mod change;
mod check;
mod dictionary;
mod files;
mod frame_hash;
mod frame_kind;
mod freeze;
mod kind;
mod pack;
mod read;
mod record;
mod samples;
mod segment_row;
mod writer;

pub use bodies::{Bodies, Dictionaries};
pub use body_row::Place;
pub use change::SegmentChange;
pub use check::check_files;
pub use dictionary::Dictionary;
pub use files::FOLDER;
pub use frame_kind::FrameKind;
pub use freeze::FREEZE_EVERY_BLOCKS;
pub use kind::Kind;
pub use pack::{BodyGroups, PackedBody, by_group};
pub use read::BodyReader;
pub use samples::train;
pub use writer::{AppendFailure, Segments};
