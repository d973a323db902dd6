//! Builds the store's conformance tests (`store/tests/conformance`), and holds nothing else.
//!
//! The store is optimised in debug builds, and a package's tests are built as the package is: ten minutes of processor time
//! for code that runs once. From here they are built as all other tests are.
