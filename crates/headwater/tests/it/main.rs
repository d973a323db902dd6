//! The binary as its users meet it: processes, real HTTP, real files. No network beyond this machine.
//!
//! `process` starts it, `client` asks it, `raw` asks it things no proper client would; `records`,
//! `handmade` and `world` make chains to ask about. Every other file is one set of promises.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod client;
mod handmade;
#[path = "../../../store/tests/conformance/postgres_process.rs"]
mod postgres_process;
mod process;
mod raw;
mod records;
mod world;

mod answers;
mod audit;
mod backup;
mod bad_input;
mod broken_stderr;
mod cluster;
mod command_line;
mod console;
mod coverage;
mod demo;
mod disk_trouble;
mod execution_apis;
mod first_hour;
mod forwarded_chain;
mod json_rpc_edges;
mod kill_nine;
mod ledger;
mod listen;
mod mainnet;
mod multichain;
mod nft_mainnet;
mod nft_simulated;
mod openapi;
mod operating;
mod paging;
mod prices_simulated;
mod readiness;
mod redecode;
mod repeats;
mod retain;
mod secrets;
mod simulated;
mod snapshots;
mod stopping;
mod store_answers;
mod storm;
mod streams;
mod subscriptions;
mod two_engines;
mod watching;
