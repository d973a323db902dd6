//! Property tests of what is async. The same cases on every run.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use tokio::runtime::{Builder, Runtime};

pub fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..Config::default() }
}

pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Panics with the smallest case that fails.
pub fn check<S: Strategy>(
    runtime: &Runtime,
    cases: u32,
    strategy: S,
    test: impl AsyncFn(S::Value),
) {
    let tested = TestRunner::new(config(cases)).run(&strategy, |case| {
        runtime.block_on(test(case));
        Ok(())
    });
    tested.unwrap();
}
