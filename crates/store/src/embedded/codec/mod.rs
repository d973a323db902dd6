//! The bytes that values have on disk.

#[cfg(test)]
mod pinned;
