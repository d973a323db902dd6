//! Event streams: webhooks for what happens on a chain, told once, in order, and never left out.
//!
//! In: blocks by the store's journal, and what users configured (`definition`). Out: deliveries, written to the
//! store with the reader's cursor in one atomic write, then sent until the receiver took them.
//! Must not know: how users talk to the server (`api` does).

mod clock;
mod config;
pub mod definition;
pub mod delivery;
mod engine;
pub mod matching;
pub mod payload;
pub mod receive;
mod record;
mod registry;
mod secrets;
mod sender;
mod service;
mod settings;
pub mod signature;
pub mod target;
mod uuid;

pub use clock::iso_millis;
pub use config::Config;
pub use engine::{StreamChain, TokenNames};
pub use matching::SpamList;
pub use record::{Status, StreamView};
pub use sender::{REPORT, StreamSender};
pub use service::{
    FromBlocks, ListQuery, SettingsView, StreamAnchor, StreamError, StreamList, StreamOptions,
    Streams,
};
pub use settings::{REGIONS, SECRET_CHARS_MAX, SECRET_CHARS_MIN};
pub use uuid::uuid_text;
