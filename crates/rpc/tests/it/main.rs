//! The crate against a fake node over real sockets. No timed assertions: tests wait for conditions.

// `cfg(test)` tells clippy that helpers outside test functions are tests, too.
#[cfg(test)]
mod budgets;
#[cfg(test)]
mod capabilities;
#[cfg(test)]
mod fake_node;
#[cfg(test)]
mod fetch;
#[cfg(test)]
mod forward;
#[cfg(test)]
mod lanes;
#[cfg(test)]
mod plain_http;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod states;
#[cfg(test)]
mod websocket;
