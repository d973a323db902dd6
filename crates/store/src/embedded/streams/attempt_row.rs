//! One attempt in a list; when it was, and of what, is in the key. Chain and block of the delivery are here
//! again, so that a list can be filtered without reading deliveries.

use model::chain::ChainId;

use crate::embedded::codec::{put_counted, put_varint, take_byte, take_text, take_varint};
use crate::streams::AttemptLog;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    pub chain: ChainId,
    pub number: u64,
    /// `retries` is in the key, too.
    pub log: AttemptLog,
}

impl AttemptRow {
    pub fn pack(&self) -> Vec<u8> {
        let mut out = vec![u8::from(self.log.error.is_some())];
        for number in [self.chain.0, self.number, u64::from(self.log.retries)] {
            put_varint(&mut out, number);
        }
        let error = self.log.error.as_ref();
        for text in [&self.log.webhook_url, &self.log.tag].into_iter().chain(error) {
            put_counted(&mut out, text.as_bytes());
        }
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let has_error = take_byte(input).filter(|flag| *flag <= 1)? == 1;
        let (chain, number) = (ChainId(take_varint(input)?), take_varint(input)?);
        let retries = u32::try_from(take_varint(input)?).ok()?;
        let mut text = || Some(take_text(input)?.to_owned());
        let (webhook_url, tag) = (text()?, text()?);
        let error = if has_error { Some(text()?) } else { None };
        let log = AttemptLog { webhook_url, tag, retries, error };
        input.is_empty().then_some(AttemptRow { chain, number, log })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (chain, number, retries) in any::<(u64, u64, u32)>(),
            (webhook_url, tag) in (".{0,9}", ".{0,9}"),
            error in proptest::option::of(".{0,9}"),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let log = AttemptLog { webhook_url, tag, retries, error };
            let row = AttemptRow { chain: ChainId(chain), number, log };
            let packed = row.pack();
            prop_assert_eq!(AttemptRow::unpack(&packed), Some(row));
            prop_assert_eq!(AttemptRow::unpack(&packed[..packed.len() - 1]), None);
            let _ = AttemptRow::unpack(&bytes);
        }
    }
}
