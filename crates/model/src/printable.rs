//! Text of strangers, made fit to be shown: in a log line, an error, a terminal.
//!
//! In: a method's name, a node's words, a path. Out: one line of limited length without anything that a
//! terminal obeys or that reads backwards. Letters of all languages stay as they are.

use std::fmt;

/// Shows at most so many characters, and says by `…` that there were more.
pub struct Printable<'a> {
    text: &'a str,
    chars_max: usize,
}

pub fn printable(text: &str, chars_max: usize) -> Printable<'_> {
    Printable { text, chars_max }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.text.chars();
        for letter in shown.by_ref().take(self.chars_max) {
            if is_plain(letter) {
                fmt::Write::write_char(f, letter)?;
            } else {
                write!(f, "{}", letter.escape_unicode())?;
            }
        }
        if shown.next().is_some() { f.write_str("…") } else { Ok(()) }
    }
}

/// Neither a control character, nor a line end of any kind, nor one that turns the direction of writing or
/// takes no room.
fn is_plain(letter: char) -> bool {
    let is_unseen = matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    );
    !letter.is_control() && !is_unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_spelled_out_and_the_rest_stays() {
        for (text, shown) in [
            ("eth_call", "eth_call"),
            ("Größe 价格", "Größe 价格"),
            ("a\nERROR forged", "a\\u{a}ERROR forged"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2028}c", "a\\u{202e}b\\u{2028}c"),
            ("", ""),
        ] {
            assert_eq!(printable(text, 80).to_string(), shown);
        }
        assert_eq!(printable("abcdef", 3).to_string(), "abc…");
        assert_eq!(printable("abc", 3).to_string(), "abc");
    }
}
