//! The gateway before simulated nodes: what clients see while nodes are ill or lie, and how calls travel.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod faults;
mod feed;
mod forwarding;
mod receipts;
mod setup;
