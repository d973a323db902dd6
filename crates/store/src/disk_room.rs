//! Room on the file system of the data folder, and how much of it writing leaves alone.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRoom {
    pub size_bytes: u64,
    pub free_bytes: u64,
    /// Writing pauses below this.
    pub free_bytes_min: u64,
}
