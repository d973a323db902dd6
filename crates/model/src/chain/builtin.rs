//! The files of `chains/`, compiled in: text only, read by the table.
//!
//! The list is made by `build.rs` from the folder, so a new chain is a new file and nothing else.

/// Slug and text, sorted by slug.
pub const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/chain_files.rs"));
