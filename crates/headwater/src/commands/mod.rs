//! One file per command.

pub mod config;
pub mod demo;
pub mod digest;
pub mod import;
pub mod keys;
pub mod redecode;
pub mod serve;
mod signals;
