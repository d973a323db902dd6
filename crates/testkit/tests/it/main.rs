//! The testkit is tested from outside: from rendered JSON and over the wire, as its users see it.

#[cfg(test)]
mod blocks;
#[cfg(test)]
mod client;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod json;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod market;
#[cfg(test)]
mod node;
#[cfg(test)]
mod rebuild;
#[cfg(test)]
mod reorgs;
#[cfg(test)]
mod sales;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod wallets;
