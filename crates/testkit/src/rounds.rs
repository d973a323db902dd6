//! How much a test may do: the everyday run is quick, `./test --long` proves more.

/// How many rounds, seeds or blocks to try: `long` where `HEADWATER_LONG=1` is set, else `everyday`.
pub fn rounds(everyday: u64, long: u64) -> u64 {
    let is_long = std::env::var_os("HEADWATER_LONG").is_some_and(|value| value == "1");
    if is_long { long } else { everyday }
}
