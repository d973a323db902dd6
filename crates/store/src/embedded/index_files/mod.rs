//! Index rows of blocks that were stored in bulk, in files of their own that are written once.
//!
//! In: sorted rows of four tables, of some blocks of a chain. Out: the same rows, in the order of their keys. The engine
//! would merge such rows with all that it has, again and again; their keys are spread over the whole table. Here a fold
//! writes one file, and files are merged with others of their size (docs/adr/0020). The engine has one row for each file:
//! which blocks it has the rows of, and what was written. A file is on disk before that row is. A block that is taken away
//! is taken out of the row, and its rows in the file are passed over; so nothing in a file ever changes.
//! Knows of rows: where in a key the block stands. Must not know: what else they mean.

mod cursor;
mod entries;
mod file;
mod file_row;
mod file_rows;
mod file_set;
mod files;
mod key_form;
mod merge;
mod restarts;
mod rows_block;
mod rows_key;
mod rows_part;
mod rows_walk;
#[cfg(test)]
mod tests;
mod writer;

pub use file_row::IndexFileRow;
pub use file_rows::FileRows;
pub use file_set::{FileEntry, FileSet};
pub use files::{FOLDER, IndexFiles, SetChange};
pub use merge::{blocks_of, due, level_of, merge};
pub use writer::IndexFileWriter;
