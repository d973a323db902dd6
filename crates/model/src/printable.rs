//! Text of strangers, made fit for a log line.
//!
//! In: any text. Out: one line of limited length that a terminal takes as plain characters. Knows nothing of
//! who wrote it: a node, a client, a file.

use std::fmt::Write;

/// The text with what could forge a line, colour a terminal or turn its direction escaped (`\n`, `\u{1b}`),
/// and cut after so many characters of the original; `…` says that more followed.
pub fn printable(text: &str, chars_max: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(chars_max) + 4);
    let mut chars = text.chars();
    for character in chars.by_ref().take(chars_max) {
        if is_plain(character) {
            shown.push(character);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", character.escape_default());
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Neither a control character, nor a line end of any kind, nor one that turns the direction of writing or
/// takes no room.
fn is_plain(character: char) -> bool {
    let is_unseen = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    );
    !character.is_control() && !is_unseen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_the_rest_stays() {
        for (text, shown) in [
            ("eth_call", "eth_call"),
            ("", ""),
            ("größer als 10 %", "größer als 10 %"),
            ("a\nINFO forged", r"a\nINFO forged"),
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("a\r\tb\0\u{9b}", r"a\r\tb\u{0}\u{9b}"),
            ("x\u{202e}y\u{2028}z\u{feff}", r"x\u{202e}y\u{2028}z\u{feff}"),
        ] {
            assert_eq!(printable(text, 80), shown);
        }
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(printable("abcdef", 6), "abcdef");
        assert_eq!(printable("abcdefg", 6), "abcdef…");
        assert_eq!(printable("äöü", 2), "äö…");
        assert_eq!(printable("a", 0), "…");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_second_line(text in any::<String>(), chars_max in 0usize..50) {
            let shown = printable(&text, chars_max);
            prop_assert!(!shown.chars().any(char::is_control));
            prop_assert_eq!(printable(&shown, usize::MAX), shown.clone());
            prop_assert!(shown.chars().count() <= chars_max * 10 + 1);
        }
    }
}
