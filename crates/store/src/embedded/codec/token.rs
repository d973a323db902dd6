//! What a token calls itself.

use model::token::{Source, Token};

use super::bytes::{put_counted, take_byte, take_text};
use super::value::Packed;
use super::varint::{put_varint, take_varint};

impl Packed for Token {
    fn pack(&self, out: &mut Vec<u8>) {
        out.push(code(self.source));
        put_varint(out, self.decimals.map_or(0, |it| u64::from(it) + 1));
        for text in [&self.name, &self.symbol] {
            put_counted(out, text.as_deref().unwrap_or_default().as_bytes());
        }
    }

    fn unpack(input: &mut &[u8]) -> Option<Token> {
        let source = from_code(take_byte(input)?)?;
        let decimals = match take_varint(input)?.checked_sub(1) {
            Some(decimals) => Some(u8::try_from(decimals).ok()?),
            None => None,
        };
        let mut text = || {
            let text = take_text(input)?;
            Some((!text.is_empty()).then(|| text.to_owned()))
        };
        Some(Token { name: text()?, symbol: text()?, decimals, source })
    }
}

/// Codes are in stores: never give one a new meaning.
fn code(source: Source) -> u8 {
    match source {
        Source::Contract => 0,
        Source::List => 1,
        Source::Table => 2,
    }
}

fn from_code(code: u8) -> Option<Source> {
    match code {
        0 => Some(Source::Contract),
        1 => Some(Source::List),
        2 => Some(Source::Table),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_packed_token_comes_back_and_other_bytes_do_no_harm(
            name in proptest::option::of("[a-zA-Z]{1,20}"),
            symbol in proptest::option::of("\\PC{1,20}"),
            decimals in proptest::option::of(any::<u8>()),
            source in 0..3u8,
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let token = Token { name, symbol, decimals, source: from_code(source).unwrap() };
            let mut packed = Vec::new();
            token.pack(&mut packed);
            prop_assert_eq!(Token::unpack(&mut packed.as_slice()), Some(token));
            let _ = Token::unpack(&mut bytes.as_slice());
        }
    }
}
