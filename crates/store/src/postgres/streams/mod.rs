//! Rows of streams. Whoever changes what a stream's queue adds up to locks the queue's row first; of several they are
//! locked in the order of their ids, so that nobody waits in a circle.

mod addresses;
mod attempts;
mod calls;
mod claims;
mod commit;
mod copied;
mod copy_deliveries;
mod definitions;
mod deliveries;
mod delivery_row;
mod lists;
mod matches;
mod prune;
mod queues;
mod remove;
