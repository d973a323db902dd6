//! Reading stored blocks anew: the server's part, and how the command beside it asks for it.

mod keeper;
mod request;

pub use keeper::{Keeper, Kept};
pub use request::{Asked, Ended, Reply, Request};
