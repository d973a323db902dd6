//! A call as nearly all clients write it, read in one pass.
//!
//! What is anything else, or wrong, is left to `request`, which knows all forms and says what is wrong with them.

use std::borrow::Cow;

use model::raw::reader::Reader;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::methods::find;
use crate::request::{METHOD_BYTES_MAX, Request};

/// None for what is not a single call with members and values of the usual form.
pub fn read(body: &[u8]) -> Option<Request<'_>> {
    let (mut reader, mut is_first) = (Reader::new(body), true);
    let (mut version, mut id, mut method, mut params) = (None, None, None, None);
    reader.expect(b'{')?;
    while let Some(name) = reader.next_name(&mut is_first)? {
        match name.as_ref() {
            b"jsonrpc" if version.is_none() => version = Some(reader.value()?),
            b"id" if id.is_none() => id = Some(plain_id(reader.value()?)?),
            b"method" if method.is_none() => method = Some(plain_name(reader.value()?)?),
            b"params" if params.is_none() => {
                let (found, rest) = whole_value(reader.rest())?;
                params = Some(found).filter(|it| it.get().starts_with(['[', '{']));
                params?;
                reader = Reader::new(rest);
            }
            _ => return None,
        }
    }
    let is_call = version == Some(b"\"2.0\"") && reader.is_at_end();
    let method = method.filter(|_| is_call)?;
    Some(Request { id, listed: find(method), method: Cow::Borrowed(method), params })
}

/// A number without a sign, or a string of plain characters.
fn plain_id(text: &[u8]) -> Option<&str> {
    let is_number =
        text.iter().all(u8::is_ascii_digit) && (text == b"0" || text.first() != Some(&b'0'));
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let is_string = || quoted(text).is_some_and(|inside| inside.iter().all(is_plain));
    (is_number || is_string()).then(|| std::str::from_utf8(text).ok()).flatten()
}

fn plain_name(text: &[u8]) -> Option<&str> {
    let name = quoted(text).filter(|name| (1..=METHOD_BYTES_MAX).contains(&name.len()))?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    name.iter().all(is_plain).then(|| std::str::from_utf8(name).ok()).flatten()
}

fn quoted(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The first value, read as JSON to its end, and what follows it.
fn whole_value(text: &[u8]) -> Option<(&RawValue, &[u8])> {
    let mut values = Deserializer::from_slice(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Body, Item, read_any_form};

    fn shown(request: &Request<'_>) -> String {
        format!("{:?} {} {:?}", request.id, request.method, request.params.map(RawValue::get))
    }

    #[test]
    fn plain_calls_are_read_as_the_reader_of_all_forms_reads_them() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x1"},"latest"]}"#,
            r#"{"jsonrpc":"2.0","method":"eth_call","params":[],"id":"a b"}"#,
            r#" { "id" : 0 , "jsonrpc" : "2.0" , "method" : "made_up" } "#,
            r#"{"jsonrpc":"2.0","method":"eth_chainId"}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"x","params":{"a":[1,"]"]}}"#,
        ] {
            let plain = read(body.as_bytes()).unwrap_or_else(|| panic!("{body} is plain"));
            let any = read_any_form(body.as_bytes(), 10).ok();
            let Some(Body::One(Ok(any))) = any else { panic!("{body} is no call") };
            assert_eq!((shown(&plain), plain.listed), (shown(&any), any.listed));
        }
    }

    #[test]
    fn all_else_is_left_to_the_reader_of_all_forms() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(129));
        for (body, is_call) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[01]}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":7}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]]}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a",}"#, false),
            (r#"{"jsonrpc":"2.0" "id":1,"method":"a"}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}}"#, false),
            (r#"{"jsonrpc":"2.0","id":01,"method":"a"}"#, false),
            (r#"{"jsonrpc":"2.0","id":,"method":"a"}"#, false),
            (r#"{"jsonrpc":"2.0","id":"\x","method":"a"}"#, false),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, false),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, false),
            (r#"{"id":1,"method":"a"}"#, false),
            (r#"{"jsonrpc":"2.0","id":1}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, false),
            (long.as_str(), false),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, false),
            ("", false),
            ("{", false),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, true),
            (r#"{"jsonrpc":"2.0","id":-1.5e3,"method":"a"}"#, true),
            (r#"{"jsonrpc":"2.0","id":"\"","method":"a"}"#, true),
            (r#"{"jsonrpc":"2.0","id":"ü","method":"a"}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"method":"\u0061"}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","other":1}"#, true),
        ] {
            assert!(read(body.as_bytes()).is_none(), "{body}");
            let item: Option<Item<'_>> = match read_any_form(body.as_bytes(), 10) {
                Ok(Body::One(item)) => Some(item),
                Ok(Body::Batch(_)) | Err(_) => None,
            };
            assert_eq!(item.is_some_and(|item| item.is_ok()), is_call, "{body}");
        }
        assert!(
            read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[\"\xff\"]}")
                .is_none()
        );
    }
}
