//! Whether two texts are the same JSON, but for the order of keys and for white space.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Strings and numbers count as they are spelled. None of it is trusted: a text that is no JSON is the same as no other.
pub fn is_same_json(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (fingerprint(one.as_bytes()), fingerprint(other.as_bytes())) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// A list or an object that is not closed yet.
struct Open {
    is_object: bool,
    /// Of the values so far; in an object their order counts for nothing.
    sum: u64,
    /// Of the value that comes next.
    key: Option<u64>,
}

const LIST: u64 = 1;
const OBJECT: u64 = 2;

/// No recursion: calls nest deeper than a stack may.
fn fingerprint(text: &[u8]) -> Option<u64> {
    let mut open: Vec<Open> = Vec::new();
    let mut rest = text.trim_ascii();
    loop {
        let (first, behind) = rest.split_first()?;
        let mut value = match first {
            b'{' | b'[' => {
                open.push(Open { is_object: *first == b'{', sum: 0, key: None });
                rest = behind.trim_ascii_start();
                None
            }
            b'}' | b']' => {
                rest = behind;
                Some(closed(&open.pop()?))
            }
            b',' if !open.is_empty() => {
                rest = behind.trim_ascii_start();
                None
            }
            _ => {
                let (scalar, behind) = rest.split_at_checked(scalar_bytes(rest)?)?;
                rest = behind.trim_ascii_start();
                let hash = xxh3_64(scalar);
                match (open.last_mut(), rest.strip_prefix(b":")) {
                    (Some(around), Some(behind)) if around.is_object => {
                        around.key = Some(hash);
                        rest = behind.trim_ascii_start();
                        None
                    }
                    _ => Some(hash),
                }
            }
        };
        if let Some(hash) = value.take() {
            let Some(around) = open.last_mut() else {
                return rest.trim_ascii().is_empty().then_some(hash);
            };
            around.add(hash)?;
            rest = rest.trim_ascii_start();
        }
    }
}

impl Open {
    fn add(&mut self, value: u64) -> Option<()> {
        self.sum = if self.is_object {
            self.sum.wrapping_add(mixed(self.key.take()?, value))
        } else {
            mixed(self.sum, value)
        };
        Some(())
    }
}

fn closed(open: &Open) -> u64 {
    mixed(if open.is_object { OBJECT } else { LIST }, open.sum)
}

fn mixed(one: u64, other: u64) -> u64 {
    xxh3_64_with_seed(&other.to_be_bytes(), one)
}

/// How long the string, number or word is with which the text begins.
fn scalar_bytes(text: &[u8]) -> Option<usize> {
    if text.first() != Some(&b'"') {
        let ends =
            |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':') || byte.is_ascii_whitespace();
        let bytes = text.iter().position(ends).unwrap_or(text.len());
        return (bytes > 0).then_some(bytes);
    }
    let mut at = 1;
    loop {
        let quote = at + memchr::memchr(b'"', text.get(at..)?)?;
        let before = text.get(at..quote)?.iter().rev();
        if before.take_while(|byte| **byte == b'\\').count().is_multiple_of(2) {
            return Some(quote + 1);
        }
        at = quote + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_keys_and_white_space_count_for_nothing_and_all_else_does() {
        let text = r#"{"a":[1,{"b":"x\"y","c":null}],"d":{},"e":[]}"#;
        for same in [
            r#"{"e":[],"d":{},"a":[1,{"c":null,"b":"x\"y"}]}"#,
            "\n{ \"a\" : [ 1 , { \"b\" : \"x\\\"y\" , \"c\" : null } ] ,\t\"d\":{ }, \"e\":[ ]} ",
        ] {
            assert!(is_same_json(text, same), "{same}");
        }
        for other in [
            r#"{"a":[{"b":"x\"y","c":null},1],"d":{},"e":[]}"#,
            r#"{"a":[1,{"b":"x\"y","c":null}],"d":{},"e":[],"f":null}"#,
            r#"{"a":[1,{"b":"x\"y","c":null}],"d":{}}"#,
            r#"{"a":[1,{"b":null,"c":"x\"y"}],"d":{},"e":[]}"#,
            r#"{"a":[1,{"b":"x\"Y","c":null}],"d":{},"e":[]}"#,
            r#"{"a":[1,{"b":"x\"y","c":null}],"d":[],"e":[]}"#,
            r#"{"a":[[1],{"b":"x\"y","c":null}],"d":{},"e":[]}"#,
        ] {
            assert!(!is_same_json(text, other), "{other}");
        }
    }

    #[test]
    fn what_is_no_json_is_the_same_as_nothing() {
        for text in ["", "{", "]", "\"a", "{\"a\"}", "[1", "{\"a\":1", "1 2", "{1:"] {
            assert_eq!(fingerprint(text.as_bytes()), None, "{text}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(fingerprint(deep.as_bytes()).is_some());
    }
}
