//! Reading the head of a reply. Pure: bytes in, what they say out.

use std::mem::MaybeUninit;

/// Servers send five, gateways before them twenty.
const HEADERS_MAX: usize = 96;

#[derive(Debug, PartialEq)]
pub struct ReplyHead {
    pub status: u16,
    /// As it was written.
    pub retry_after: Option<String>,
    pub framing: Framing,
    /// The connection may be used for another request.
    pub keeps_alive: bool,
    /// Of the head itself.
    pub bytes: usize,
}

/// How the end of the body is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Framing {
    Length(usize),
    Chunks,
    /// By the end of the connection.
    Close,
}

/// None where it is not all there yet. `Err`: this is no reply.
pub fn read(text: &[u8]) -> Result<Option<ReplyHead>, String> {
    let mut slots = [MaybeUninit::uninit(); HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let parsing = config.parse_response_with_uninit_headers(&mut parsed, text, &mut slots);
    let bytes = match parsing {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(format!("no HTTP reply: {error}")),
    };
    let status = parsed.code.unwrap_or_default();
    let mut head = ReplyHead {
        status,
        retry_after: None,
        framing: Framing::Close,
        keeps_alive: parsed.version == Some(1),
        bytes,
    };
    let (mut length, mut is_chunked) = (None, false);
    for header in parsed.headers.iter() {
        let (name, value) = (header.name, header.value.trim_ascii());
        if name.eq_ignore_ascii_case("content-length") {
            let said = digits(value).ok_or("a content-length that is no number")?;
            if length.is_some_and(|before| before != said) {
                return Err("two lengths of one body".to_owned());
            }
            length = Some(said);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") || is_chunked {
                return Err("a transfer-encoding that was not asked for".to_owned());
            }
            is_chunked = true;
        } else if name.eq_ignore_ascii_case("connection") {
            head.keeps_alive = match value {
                close if has_word(close, b"close") => false,
                alive if has_word(alive, b"keep-alive") => true,
                _ => head.keeps_alive,
            };
        } else if name.eq_ignore_ascii_case("retry-after") {
            head.retry_after = std::str::from_utf8(value).ok().map(str::to_owned);
        }
    }
    head.framing = match (length, is_chunked) {
        _ if status < 200 || matches!(status, 204 | 304) => Framing::Length(0),
        // What somebody on the way may have understood differently.
        (Some(_), true) => return Err("a length and chunks".to_owned()),
        (None, true) => Framing::Chunks,
        (Some(length), false) => Framing::Length(length),
        (None, false) => Framing::Close,
    };
    head.keeps_alive &= head.framing != Framing::Close;
    Ok(Some(head))
}

fn digits(value: &[u8]) -> Option<usize> {
    let is_plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    is_plain.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(|it| it.trim_ascii().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(text: &str) -> ReplyHead {
        read(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn where_the_body_ends_and_whether_the_connection_stays() {
        use Framing::{Chunks, Close, Length};
        for (text, framing, keeps_alive) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", Length(12), true),
            ("HTTP/1.1 200\r\ncontent-length: 12\r\ncontent-length:12\r\n\r\n", Length(12), true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", Chunks, true),
            ("HTTP/1.1 200 OK\r\n\r\n", Close, false),
            ("HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n", Length(1), false),
            (
                "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\n",
                Length(1),
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 1\r\n\r\n",
                Length(1),
                false,
            ),
            ("HTTP/1.1 204 No Content\r\n\r\n", Length(0), true),
            ("HTTP/1.1 100 Continue\r\n\r\n", Length(0), true),
        ] {
            let head = head(text);
            assert_eq!((head.framing, head.keeps_alive), (framing, keeps_alive), "{text}");
            assert_eq!(head.bytes, text.len());
        }
    }

    #[test]
    fn status_and_the_wait_that_is_asked_for_are_read() {
        let head = head("HTTP/1.1 429 Too Many\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n");
        assert_eq!((head.status, head.retry_after.as_deref()), (429, Some("7")));
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_refused() {
        for headers in [
            "content-length: 1\r\ncontent-length: 2\r\n",
            "content-length: 1\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: gzip, chunked\r\n",
            "content-length: -1\r\n",
            "content-length: 1, 1\r\n",
            "content-length: 99999999999999999999\r\n",
            "content-length:\r\n",
            "bad name: 1\r\n",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
            assert!(read(text.as_bytes()).is_err(), "{headers}");
        }
        assert!(read(b"<html>").is_err());
        assert!(read(b"\x16\x03\x01\x02").is_err());
    }

    proptest! {
        #[test]
        fn a_head_in_pieces_is_read_once_it_is_whole(at in 0usize..60) {
            let text = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nx-odd: a b\r\n\r\n123";
            let head_bytes = text.len() - 3;
            let read = read(&text[..at.min(text.len())]).unwrap();
            prop_assert_eq!(read.map(|head| head.bytes), (at >= head_bytes).then_some(head_bytes));
        }

        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut text = b"HTTP/1.1 200 OK\r\n".to_vec();
            text.extend_from_slice(&bytes);
            let _ = (read(&bytes), read(&text));
        }
    }
}
