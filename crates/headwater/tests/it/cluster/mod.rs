//! Several processes on one PostgreSQL: who reads a chain, who matches streams, who sends; and what happens when they die or
//! hang.

mod followers;
mod members;
mod roles;
mod senders;
