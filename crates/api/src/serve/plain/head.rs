//! Reading the head of a plain request. Pure: bytes in, a request or nothing out.
//!
//! What is not plain is left to the HTTP library, which knows the whole protocol: so nothing is refused here, and what
//! two readers could understand differently is not understood at all.

use std::mem::MaybeUninit;

use axum::http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use bytes::Bytes;

/// Clients send ten, behind a few proxies twenty.
const HEADERS_MAX: usize = 48;

/// A request whose body has a known length, or none.
pub struct PlainHead {
    pub request: Request<()>,
    pub head_bytes: usize,
    pub body_bytes: usize,
    /// The client asks nothing more on this connection.
    pub is_last: bool,
}

/// None where it is not all there, or where any part of it is not plain.
pub fn read(text: &Bytes) -> Option<PlainHead> {
    let mut slots = [MaybeUninit::uninit(); HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut []);
    let status = parsed.parse_with_uninit_headers(text, &mut slots).ok()?;
    let httparse::Status::Complete(head_bytes) = status else { return None };
    let target = parsed.path.filter(|it| it.starts_with('/') && parsed.version == Some(1))?;
    let mut request = Request::new(());
    *request.method_mut() = method(parsed.method?)?;
    *request.uri_mut() = Uri::from_maybe_shared(text.slice_ref(target.as_bytes())).ok()?;
    let mut headers = HeaderMap::with_capacity(parsed.headers.len() + 2);
    let (mut body_bytes, mut is_last) = (None, false);
    for header in parsed.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        match name {
            CONTENT_LENGTH if body_bytes.is_some() => return None,
            CONTENT_LENGTH => body_bytes = Some(length(header.value)?),
            CONNECTION if header.value.eq_ignore_ascii_case(b"close") => is_last = true,
            CONNECTION if !header.value.eq_ignore_ascii_case(b"keep-alive") => return None,
            EXPECT | TRANSFER_ENCODING | UPGRADE => return None,
            _ => {}
        }
        headers.append(name, HeaderValue::from_maybe_shared(text.slice_ref(header.value)).ok()?);
    }
    *request.headers_mut() = headers;
    Some(PlainHead { request, head_bytes, body_bytes: body_bytes.unwrap_or(0), is_last })
}

/// HEAD is none of them: its answer has no body and says how long that would be.
fn method(name: &str) -> Option<Method> {
    Some(match name {
        "GET" => Method::GET,
        "POST" => Method::POST,
        "PUT" => Method::PUT,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        "OPTIONS" => Method::OPTIONS,
        _ => return None,
    })
}

/// Digits and nothing else.
fn length(value: &[u8]) -> Option<usize> {
    let is_plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    is_plain.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(text: &str) -> Option<PlainHead> {
        read(&Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn a_plain_request_is_read_whole() {
        let text = "POST /eth/key?a=1 HTTP/1.1\r\nHost: x\r\ncontent-LENGTH: 12\r\nX-Odd:  a b \r\nx-odd: c\r\n\r\n{}";
        let PlainHead { request, head_bytes, body_bytes, is_last } = head(text).unwrap();
        assert_eq!((request.method(), request.uri().path()), (&Method::POST, "/eth/key"));
        assert_eq!(request.uri().query(), Some("a=1"));
        let odd: Vec<_> = request.headers().get_all("x-odd").iter().collect();
        assert_eq!(odd, ["a b", "c"]);
        assert_eq!((head_bytes, body_bytes, is_last), (text.len() - 2, 12, false));
        assert!(head("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").unwrap().is_last);
        assert!(!head("GET / HTTP/1.1\r\nConnection: Keep-Alive\r\n\r\n").unwrap().is_last);
        assert_eq!(head("GET / HTTP/1.1\r\n\r\n").unwrap().body_bytes, 0);
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_library() {
        let get = |headers: &str| format!("GET / HTTP/1.1\r\n{headers}\r\n");
        let many = "a: b\r\n".repeat(HEADERS_MAX + 1);
        for text in [
            String::new(),
            "GET / HTTP/1.1\r\nhost: x".to_owned(),
            "GET / HTTP/1.1\r\nhost: x\r\n".to_owned(),
            "GET / HTTP/1.0\r\n\r\n".to_owned(),
            "GET / HTTP/2.0\r\n\r\n".to_owned(),
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
            "GET http://x/ HTTP/1.1\r\n\r\n".to_owned(),
            "GET * HTTP/1.1\r\n\r\n".to_owned(),
            "HEAD / HTTP/1.1\r\n\r\n".to_owned(),
            "CONNECT / HTTP/1.1\r\n\r\n".to_owned(),
            "REPORT / HTTP/1.1\r\n\r\n".to_owned(),
            "\u{16}\u{3}\u{1}\u{2}".to_owned(),
            get("transfer-encoding: chunked\r\n"),
            get("content-length: 1\r\ntransfer-encoding: chunked\r\n"),
            get("content-length: 1\r\ncontent-length: 1\r\n"),
            get("content-length: 1, 1\r\n"),
            get("content-length: +1\r\n"),
            get("content-length: -1\r\n"),
            get("content-length:\r\n"),
            get("content-length: 0x10\r\n"),
            get("content-length: 99999999999999999999\r\n"),
            get("connection: upgrade\r\n"),
            get("connection: keep-alive, upgrade\r\n"),
            get("upgrade: websocket\r\n"),
            get("expect: 100-continue\r\n"),
            get("bad name: x\r\n"),
            get("name : x\r\n"),
            get("folded: x\r\n y\r\n"),
            get("nul: \u{0}\r\n"),
            get(&many),
        ] {
            assert!(head(&text).is_none(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_stop_the_reader_and_a_head_ends_with_an_empty_line(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            line in "(GET|POST) /[a-z?&=]{0,9} HTTP/1.1\r\n([a-zA-Z-]{1,9}: ?[ -~]{0,9}\r?\n){0,4}\r\n",
            at in any::<prop::sample::Index>(),
        ) {
            let mut broken = line.clone().into_bytes();
            broken[at.index(line.len())] = bytes.first().copied().unwrap_or(0);
            for text in [bytes, line.into_bytes(), broken] {
                let text = Bytes::from(text);
                if let Some(head) = read(&text) {
                    prop_assert!(text[..head.head_bytes].ends_with(b"\n"));
                    prop_assert!(head.request.uri().path().starts_with('/'));
                }
            }
        }
    }
}
