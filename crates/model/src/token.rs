//! What a token calls itself, made safe to show.
//!
//! In: whatever a contract answered. Out: short texts without signs that steer a terminal or turn
//! writing around. A contract may call itself anything, so nothing here says that a token is genuine.

use crate::raw::wire::{put_varint, take_bytes, take_varint};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Token {
    pub name: Option<String>,
    pub symbol: Option<String>,
    /// None where the contract does not say; then no amount of it means anything.
    pub decimals: Option<u8>,
    pub source: Source,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The contract itself, asked through a node.
    #[default]
    Contract,
    /// A list of the operator's.
    List,
    /// The chain table.
    Table,
}

/// Letters kept of a name or symbol.
const LETTERS_MAX: usize = 96;

/// The text without control signs and signs that turn the direction of writing, cut to a sane length.
pub fn plain_text(text: &str) -> Option<String> {
    let harmless = |sign: &char| {
        !sign.is_control()
            && !matches!(*sign, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffd}')
    };
    let text: String = text.trim().chars().filter(harmless).take(LETTERS_MAX).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

impl Token {
    pub fn pack(&self, out: &mut Vec<u8>) {
        out.push(self.source as u8);
        put_varint(out, self.decimals.map_or(0, |it| u64::from(it) + 1));
        for text in [&self.name, &self.symbol] {
            let text = text.as_deref().unwrap_or_default();
            put_varint(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// `None` means the bytes are not what `pack` wrote.
    pub fn unpack(input: &mut &[u8]) -> Option<Token> {
        let source = match take_bytes(input, 1)?.first()? {
            0 => Source::Contract,
            1 => Source::List,
            2 => Source::Table,
            _ => return None,
        };
        let decimals = match take_varint(input)?.checked_sub(1) {
            Some(decimals) => Some(u8::try_from(decimals).ok()?),
            None => None,
        };
        let mut text = || {
            let length = usize::try_from(take_varint(input)?).ok()?;
            let text = std::str::from_utf8(take_bytes(input, length)?).ok()?;
            Some((!text.is_empty()).then(|| text.to_owned()))
        };
        Some(Token { name: text()?, symbol: text()?, decimals, source })
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
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let token = Token { name, symbol, decimals, source: Source::List };
            let mut packed = Vec::new();
            token.pack(&mut packed);
            prop_assert_eq!(Token::unpack(&mut packed.as_slice()), Some(token));
            let _ = Token::unpack(&mut bytes.as_slice());
        }

        #[test]
        fn any_text_becomes_short_and_plain(text in any::<String>()) {
            if let Some(plain) = plain_text(&text) {
                prop_assert!(plain.chars().count() <= LETTERS_MAX && !plain.chars().any(char::is_control));
            }
        }
    }

    #[test]
    fn names_that_would_steer_the_reader_are_made_harmless() {
        for (text, plain) in [
            ("  Dai Stablecoin\0\0", Some("Dai Stablecoin")),
            ("\u{202e}CDSU", Some("CDSU")),
            ("a\u{1b}[31mb", Some("a[31mb")),
            ("\u{200b}\n\t", None),
            ("ünï 中", Some("ünï 中")),
        ] {
            assert_eq!(plain_text(text).as_deref(), plain);
        }
        assert_eq!(plain_text(&"x".repeat(100_000)).map(|it| it.len()), Some(LETTERS_MAX));
    }
}
