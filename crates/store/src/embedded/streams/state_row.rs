//! How far the attempts of a delivery came, and under which keys that is listed elsewhere.

use crate::embedded::codec::{put_counted, put_varint, take_byte, take_text, take_varint};
use crate::streams::DeliveryState;

const DUE: u8 = 1;
const DELIVERED: u8 = 2;
const GIVEN_UP: u8 = 4;
const ERROR: u8 = 8;
const FAILED: u8 = 16;
const ENDED: u8 = 32;
const ALL: u8 = 63;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateRow {
    pub state: DeliveryState,
    /// Where it stands in the list of those that failed: when, and after how many retries.
    pub failed: Option<(u64, u32)>,
    /// Where it stands in the list of those that wait for nothing.
    pub ended_ms: Option<u64>,
}

/// Whether an attempt is still to come.
pub fn waits(state: &DeliveryState) -> bool {
    state.due_ms.is_some() || !state.is_final()
}

/// Whether its first attempt was made, or will never be.
pub fn is_past_first(state: &DeliveryState) -> bool {
    state.attempts > 0 || state.is_final()
}

impl StateRow {
    pub fn pack(&self) -> Vec<u8> {
        let StateRow { state, failed, ended_ms } = self;
        let flag = |has: bool, bit: u8| if has { bit } else { 0 };
        let mut out = vec![
            flag(state.due_ms.is_some(), DUE)
                | flag(state.delivered_ms.is_some(), DELIVERED)
                | flag(state.given_up, GIVEN_UP)
                | flag(state.error.is_some(), ERROR)
                | flag(failed.is_some(), FAILED)
                | flag(ended_ms.is_some(), ENDED),
        ];
        put_varint(&mut out, u64::from(state.attempts));
        for number in [state.due_ms, state.delivered_ms].into_iter().flatten() {
            put_varint(&mut out, number);
        }
        if let Some(error) = &state.error {
            put_counted(&mut out, error.as_bytes());
        }
        if let Some((at_ms, retries)) = failed {
            put_varint(&mut out, *at_ms);
            put_varint(&mut out, u64::from(*retries));
        }
        if let Some(ended_ms) = ended_ms {
            put_varint(&mut out, *ended_ms);
        }
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let flags = take_byte(input).filter(|flags| *flags <= ALL)?;
        let has = |bit: u8| flags & bit != 0;
        let attempts = u32::try_from(take_varint(input)?).ok()?;
        let due_ms = if has(DUE) { Some(take_varint(input)?) } else { None };
        let delivered_ms = if has(DELIVERED) { Some(take_varint(input)?) } else { None };
        let error = if has(ERROR) { Some(take_text(input)?.to_owned()) } else { None };
        let failed = if has(FAILED) {
            Some((take_varint(input)?, u32::try_from(take_varint(input)?).ok()?))
        } else {
            None
        };
        let ended_ms = if has(ENDED) { Some(take_varint(input)?) } else { None };
        let given_up = has(GIVEN_UP);
        let state = DeliveryState { attempts, due_ms, delivered_ms, given_up, error };
        input.is_empty().then_some(StateRow { state, failed, ended_ms })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (attempts, due_ms, delivered_ms) in any::<(u32, Option<u64>, Option<u64>)>(),
            (given_up, error) in (any::<bool>(), proptest::option::of(".{0,9}")),
            (failed, ended_ms) in any::<(Option<(u64, u32)>, Option<u64>)>(),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let state = DeliveryState { attempts, due_ms, delivered_ms, given_up, error };
            let row = StateRow { state, failed, ended_ms };
            let packed = row.pack();
            prop_assert_eq!(StateRow::unpack(&packed), Some(row));
            prop_assert_eq!(StateRow::unpack(&packed[..packed.len() - 1]), None);
            let _ = StateRow::unpack(&bytes);
        }
    }

    #[test]
    fn what_is_due_waits_even_after_it_was_delivered() {
        let delivered = DeliveryState { delivered_ms: Some(1), ..Default::default() };
        assert!(waits(&DeliveryState::default()) && !waits(&delivered));
        assert!(waits(&DeliveryState { due_ms: Some(2), ..delivered.clone() }));
        assert!(is_past_first(&delivered) && !is_past_first(&DeliveryState::default()));
    }
}
