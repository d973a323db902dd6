//! Whether a field holds nothing: what nodes write where an object has no such field.

use alloy_primitives::{Address, B256, U256};

/// Nodes differ in how they leave out a field that a type or a fork does not have: it is absent, null,
/// empty or zero. (Null is absent here: it is no value.)
pub trait Blank {
    fn is_blank(&self) -> bool;
}

macro_rules! zero_is_blank {
    ($($kind:ty),*) => {$(
        impl Blank for $kind {
            fn is_blank(&self) -> bool {
                *self == <$kind>::default()
            }
        }
    )*};
}
zero_is_blank!(u64, bool, U256, B256, Address);

impl<T> Blank for Vec<T> {
    fn is_blank(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Blank> Blank for Option<T> {
    fn is_blank(&self) -> bool {
        self.as_ref().is_none_or(Blank::is_blank)
    }
}
