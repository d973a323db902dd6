//! One call inside a transaction.

use alloy_primitives::{Address, Bytes, U256};
use model::raw::{Frame, FrameKind};

use super::bytes::{put_counted, take_byte, take_text};
use super::value::{Packed, unpack_list};
use super::varint::{put_varint, take_varint};

const KIND_MASK: u8 = 0x0f;
const HAS_TO: u8 = 0x10;
const HAS_ERROR: u8 = 0x20;
const UNDONE: u8 = 0x40;

impl Packed for Frame {
    fn pack(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        out.push(
            code(self.kind)
                | flag(self.to.is_some(), HAS_TO)
                | flag(self.error.is_some(), HAS_ERROR)
                | flag(self.undone, UNDONE),
        );
        put_varint(out, self.path.len() as u64);
        self.path.iter().for_each(|step| put_varint(out, u64::from(*step)));
        self.from.pack(out);
        if let Some(to) = &self.to {
            to.pack(out);
        }
        self.value.pack(out);
        put_varint(out, self.gas);
        put_varint(out, self.gas_used);
        self.input.pack(out);
        self.output.pack(out);
        if let Some(error) = &self.error {
            put_counted(out, error.as_bytes());
        }
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let flags = take_byte(input)?;
        let kind = from_code(flags & KIND_MASK)?;
        let path = unpack_list(input, |i| u32::try_from(take_varint(i)?).ok())?;
        let from = Address::unpack(input)?;
        let to = if flags & HAS_TO != 0 { Some(Address::unpack(input)?) } else { None };
        let mut frame = Frame {
            path,
            kind,
            from,
            to,
            value: U256::unpack(input)?,
            gas: take_varint(input)?,
            gas_used: take_varint(input)?,
            input: Bytes::unpack(input)?,
            output: Bytes::unpack(input)?,
            error: None,
            undone: flags & UNDONE != 0,
        };
        if flags & HAS_ERROR != 0 {
            frame.error = Some(take_text(input)?.into());
        }
        Some(frame)
    }
}

/// Codes are in stores: never give one a new meaning.
fn code(kind: FrameKind) -> u8 {
    match kind {
        FrameKind::Call => 0,
        FrameKind::CallCode => 1,
        FrameKind::DelegateCall => 2,
        FrameKind::StaticCall => 3,
        FrameKind::Create => 4,
        FrameKind::Create2 => 5,
        FrameKind::SelfDestruct => 6,
    }
}

fn from_code(code: u8) -> Option<FrameKind> {
    Some(match code {
        0 => FrameKind::Call,
        1 => FrameKind::CallCode,
        2 => FrameKind::DelegateCall,
        3 => FrameKind::StaticCall,
        4 => FrameKind::Create,
        5 => FrameKind::Create2,
        6 => FrameKind::SelfDestruct,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn frame()(
            path in prop::collection::vec(any::<u32>(), 0..5),
            kind in 0..7u8,
            (from, to) in any::<([u8; 20], Option<[u8; 20]>)>(),
            value in any::<[u8; 32]>(),
            (gas, gas_used) in any::<(u64, u64)>(),
            (input, output) in any::<(Vec<u8>, Vec<u8>)>(),
            (error, undone) in any::<(Option<String>, bool)>(),
        ) -> Frame {
            Frame {
                path,
                kind: from_code(kind).unwrap(),
                from: from.into(),
                to: to.map(Address::from),
                value: U256::from_be_bytes(value),
                gas,
                gas_used,
                input: input.into(),
                output: output.into(),
                error: error.map(Into::into),
                undone,
            }
        }
    }

    proptest! {
        #[test]
        fn frames_survive_packing(frame in frame()) {
            let mut packed = Vec::new();
            frame.pack(&mut packed);
            let input = &mut packed.as_slice();
            prop_assert_eq!(Frame::unpack(input), Some(frame));
            prop_assert!(input.is_empty());
        }

        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Frame::unpack(&mut bytes.as_slice());
        }
    }

    #[test]
    fn every_kind_has_its_code() {
        for number in 0..7 {
            assert_eq!(from_code(number).map(code), Some(number));
        }
        assert_eq!(from_code(7), None);
    }
}
