//! What the HTTP library refuses by itself, it refuses without a word: a head that is too large, a path that is too
//! long, what is no HTTP. Here such an answer gets the body and the headers that every refusal has.

use crate::answer_headers::AnswerDate;
use crate::request_id;

/// Its own answers are shorter than this, and have no body; none of ours is like that.
const LIBRARY_BYTES_MAX: usize = 128;
const NO_BODY: &[u8] = b"content-length: 0\r\n\r\n";

/// What goes out instead of these bytes, if they are such a refusal. `in_first_line`: the client sent no end of a line
/// yet, so what was too large is the path. `more`: as for [`refusal`].
pub fn instead_of(written: &[u8], in_first_line: bool, more: &str) -> Option<Vec<u8>> {
    let is_refusal = written.starts_with(b"HTTP/1.") && written.get(8..10) == Some(b" 4");
    if !is_refusal || written.len() > LIBRARY_BYTES_MAX || !written.ends_with(NO_BODY) {
        return None;
    }
    let (status, why) = match written.get(9..12)? {
        b"431" if !in_first_line => ("431 Request Header Fields Too Large", TOO_LARGE),
        b"414" | b"431" => ("414 URI Too Long", TOO_LONG),
        b"400" => ("400 Bad Request", NO_HTTP),
        _ => return None,
    };
    Some(refusal(status, why, more).into_bytes())
}

/// A whole answer as text, for where there is no request to answer. `more`: further headers, each with its end of line.
pub fn refusal(status: &str, why: &str, more: &str) -> String {
    let body = serde_json::json!({ "message": why }).to_string();
    let date = AnswerDate::default().get();
    let date = date.as_ref().and_then(|date| date.to_str().ok());
    let date = date.map(|date| format!("date: {date}\r\n")).unwrap_or_default();
    let (id, length) = (request_id::fresh(), body.len());
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n\
         cache-control: no-store\r\n{date}{more}x-request-id: {id}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}

const TOO_LARGE: &str =
    "the head of the request is larger than this server takes; send fewer or shorter headers";
const TOO_LONG: &str = "the path and query of the request are longer than this server takes";
const NO_HTTP: &str = "this is not an HTTP request that can be read";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_librarys_own_refusals_are_replaced() {
        let refused = |status: &str| {
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        };
        for (library, in_first_line, ours) in [
            ("414 URI Too Long", false, "HTTP/1.1 414 "),
            ("431 Request Header Fields Too Large", true, "HTTP/1.1 414 "),
            ("431 Request Header Fields Too Large", false, "HTTP/1.1 431 "),
            ("400 Bad Request", false, "HTTP/1.1 400 "),
        ] {
            let instead = instead_of(refused(library).as_bytes(), in_first_line, "more: 1\r\n");
            let text = String::from_utf8(instead.unwrap()).unwrap();
            assert!(text.contains("\r\nmore: 1\r\n"), "{text}");
            assert!(text.starts_with(ours), "{text}");
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())), "{text}");
            assert!(body.starts_with("{\"message\":"), "{text}");
        }
        for other in [
            refused("204 No Content"),
            refused("500 Internal Server Error"),
            refused("404 Not Found").replace(": 0", ": 7"),
            "HTTP/1.1 4".to_owned(),
            String::new(),
        ] {
            assert_eq!(instead_of(other.as_bytes(), false, ""), None, "{other}");
        }
    }
}
