//! Decoders, on blocks the tests make themselves and on real ones.

mod blur;
mod build;
mod fixtures;
mod others;
mod seaport;
mod strangers;
mod wyvern;
