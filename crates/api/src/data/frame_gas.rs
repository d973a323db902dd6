//! What a call inside a transaction used of its gas.

use model::raw::Frame;

/// Part of the error of calls that end without losing what is left of their gas: they gave up by themselves, or
/// were never begun. Every dialect has words of its own.
const KEEPS_GAS: [&str; 4] = ["revert", "insufficient balance", "out of funds", "depth"];

/// Some nodes give a call that halted no result, and so no gas used. The rules leave no doubt about it: an exceptional
/// halt takes all of the call's gas.
pub fn gas_used(frame: &Frame) -> u64 {
    match &frame.error {
        Some(error) if frame.gas_used == 0 && !keeps_gas(error) => frame.gas,
        _ => frame.gas_used,
    }
}

fn keeps_gas(error: &str) -> bool {
    let error = error.to_ascii_lowercase();
    KEEPS_GAS.iter().any(|words| error.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_halted_used_all_of_its_gas_and_one_that_gave_up_what_its_trace_says() {
        for (error, told, used) in [
            (None, 0, 0),
            (None, 7, 7),
            (Some("Out of gas"), 0, 900),
            (Some("out of gas"), 12, 12),
            (Some("Bad jump destination"), 0, 900),
            (Some("Bad instruction"), 0, 900),
            (Some("invalid opcode: INVALID"), 0, 900),
            (Some("contract address collision"), 0, 900),
            (Some("Reverted"), 0, 0),
            (Some("execution reverted"), 5, 5),
            (Some("insufficient balance for transfer"), 0, 0),
            (Some("max call depth exceeded"), 0, 0),
        ] {
            let error = error.map(Into::into);
            let frame = Frame { gas: 900, gas_used: told, error, ..Frame::default() };
            assert_eq!(gas_used(&frame), used, "{:?} {told}", frame.error);
        }
    }
}
