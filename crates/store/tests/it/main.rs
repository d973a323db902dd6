//! The store from outside: what goes in comes out, what is taken back leaves nothing behind.

#[cfg(test)]
mod blocks;
#[cfg(test)]
mod commit;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod generations;
#[cfg(test)]
mod made_facts;
#[cfg(test)]
mod open;
mod pools;
#[cfg(test)]
mod random;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod trades;
#[cfg(test)]
mod wallets;
