//! Decoders, on blocks the tests make themselves and on real ones.

#[cfg(test)]
mod blur;
#[cfg(test)]
mod build;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod others;
#[cfg(test)]
mod seaport;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod wyvern;
