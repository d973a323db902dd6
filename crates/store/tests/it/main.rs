//! What is true of the embedded engine alone, from outside: its folder.

#[cfg(test)]
mod folder;
