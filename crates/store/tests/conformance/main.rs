//! What every engine of the store must do, written against its face alone: what goes in comes out, what
//! is reverted leaves nothing behind, readers see each block once. The only thing that differs from one
//! engine to the next is how an empty store is made, in `engine`.

#[cfg(test)]
mod against_model;
#[cfg(test)]
mod amend;
#[cfg(test)]
mod arrival;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod blocks;
#[cfg(test)]
mod both_engines;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod citus;
#[cfg(test)]
mod commit;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod copy_folder;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod decoders;
#[cfg(test)]
mod duties;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod follower;
#[cfg(test)]
mod generations;
#[cfg(test)]
mod home;
#[cfg(test)]
mod installation;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod made_facts;
#[cfg(test)]
mod made_logs;
#[cfg(test)]
mod model;
#[cfg(test)]
mod placed;
#[cfg(test)]
mod pools;
#[cfg(test)]
mod postgres_process;
#[cfg(test)]
mod postgres_server;
#[cfg(test)]
mod prune;
#[cfg(test)]
mod random;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod several_processes;
#[cfg(test)]
mod sim_block;
#[cfg(test)]
mod sql_docs;
#[cfg(test)]
mod stream_addresses;
#[cfg(test)]
mod stream_attempts;
#[cfg(test)]
mod stream_copy;
#[cfg(test)]
mod stream_lifetime;
#[cfg(test)]
mod stream_made;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod streams_against_model;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod trades;
#[cfg(test)]
mod wallets;
