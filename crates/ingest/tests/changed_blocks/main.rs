//! Blocks changed in one field each, of every modelled type and fork: none is believed, and none of the
//! unchanged is refused. Simulated blocks always, recorded ones where the fixtures are at hand.

#[cfg(test)]
mod believed;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod import;
#[cfg(test)]
mod named;
#[cfg(test)]
mod table;
#[cfg(test)]
mod traces;
