//! What a token calls itself, made safe to show.
//!
//! In: whatever a contract answered. Out: short texts without signs that steer a terminal or turn
//! writing around. A contract may call itself anything, so nothing here says that a token is genuine.

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
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
