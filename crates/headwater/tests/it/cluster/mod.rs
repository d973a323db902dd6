//! Several processes on one PostgreSQL: who reads a chain, who matches streams, who sends; and what happens when they die or
//! hang.

mod followers;
mod load;
mod members;
mod pg_server;
mod placing;
mod replicas;
mod restore;
mod roles;
mod senders;
mod units;
mod whole;
