//! A connection against a peer that writes what it likes.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::{Connection, IdleConnections, ReplyHead, Room, Unread, Written};

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";

async fn pair() -> (Connection, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (theirs, _) = listener.accept().await.unwrap();
    theirs.set_nodelay(true).unwrap();
    (Connection::new(ours), theirs)
}

/// So many bytes of a body are read.
struct AtMost(usize);

#[derive(Debug, PartialEq)]
struct Over(usize);

impl Room for AtMost {
    type Full = Over;

    fn grow_to(&mut self, bytes: usize) -> Result<(), Over> {
        if bytes > self.0 { Err(Over(bytes)) } else { Ok(()) }
    }
}

type Reply = Result<(ReplyHead, Bytes), Unread<Over>>;

async fn asked(connection: &mut Connection) {
    assert!(matches!(connection.send(REQUEST, &[]).await, Written::All));
}

/// What is read where the peer answers with these pieces, one after the other, and then stays or goes.
async fn replied(pieces: &[&[u8]], stays: bool) -> (Reply, bool) {
    let (mut connection, mut peer) = pair().await;
    asked(&mut connection).await;
    let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    let writing = tokio::spawn(async move {
        // What was not read when it goes would turn the end into a reset.
        peer.read_exact(&mut [0; REQUEST.len()]).await.unwrap();
        for piece in pieces {
            let _ = peer.write_all(&piece).await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        stays.then_some(peer)
    });
    let reply = connection.receive(&mut AtMost(32 << 20)).await;
    let _peer = writing.await.unwrap();
    (reply, connection.is_reusable())
}

/// In pieces of every size, so that the reader waits at every place.
async fn in_all_pieces(text: &str, stays: bool) -> Vec<(String, bool)> {
    let mut seen = Vec::new();
    for length in [1, 3, 7, text.len()] {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
        let (reply, is_reusable) = replied(&pieces, stays).await;
        let body = String::from_utf8(reply.unwrap_or_else(|e| panic!("{text}: {e:?}")).1.to_vec());
        seen.push((body.unwrap(), is_reusable));
    }
    seen
}

#[tokio::test]
async fn every_form_of_a_reply_is_read_however_it_comes() {
    for (text, body, stays) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "hello", true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", "", true),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
            "hello",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-odd: 1\r\ny: 2\r\n\r\n",
            "hello",
            true,
        ),
        (
            "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
            "hi",
            true,
        ),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi", "hi", false),
        ("HTTP/1.0 200 OK\r\n\r\nhello", "hello", false),
    ] {
        for (seen, is_reusable) in in_all_pieces(text, stays).await {
            assert_eq!((seen.as_str(), is_reusable), (body, stays), "{text}");
        }
    }
}

#[tokio::test]
async fn large_bodies_are_read_whole() {
    let large = "0123456789".repeat(900_000);
    let whole = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{large}", large.len());
    let mut chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    for chunk in [&large[..10], &large[10..70_000], &large[70_000..]] {
        chunked += &format!("{:x}\r\n{chunk}\r\n", chunk.len());
    }
    chunked += "0\r\n\r\n";
    for text in [whole, chunked] {
        let (reply, is_reusable) = replied(&[text.as_bytes()], true).await;
        assert!(reply.unwrap().1 == large.as_bytes() && is_reusable);
    }
}

#[tokio::test]
async fn what_is_no_reply_or_ends_too_soon_is_an_error() {
    for text in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello, and more\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfive\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "<html>",
    ] {
        let (reply, is_reusable) = replied(&[text.as_bytes()], false).await;
        assert!(matches!(reply, Err(Unread::Broken(_) | Unread::TooLarge(_))), "{text}");
        assert!(!is_reusable, "{text}");
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_comes() {
    for text in [
        "HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3e6\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    ] {
        let (mut connection, mut peer) = pair().await;
        asked(&mut connection).await;
        peer.write_all(text.as_bytes()).await.unwrap();
        let Err(Unread::TooLarge(Over(bytes))) = connection.receive(&mut AtMost(1000)).await else {
            panic!("{text}: taken")
        };
        assert!(bytes > 1000, "{text}: {bytes}");
    }
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "x-more: of it\r\n".repeat(10_000));
    assert!(matches!(replied(&[endless.as_bytes()], true).await.0, Err(Unread::Broken(_))));
}

#[tokio::test]
async fn what_is_left_behind_a_reply_ends_the_connection() {
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n";
    let (reply, is_reusable) = replied(&[text.as_bytes()], true).await;
    assert_eq!(reply.unwrap().1, "hi");
    assert!(!is_reusable, "whose answer is the rest?");
}

#[tokio::test]
async fn a_connection_that_the_node_closed_or_spoke_on_takes_no_request() {
    for word in [&b""[..], b"HTTP/1.1 408 Request Timeout\r\n\r\n"] {
        let (mut connection, mut peer) = pair().await;
        asked(&mut connection).await;
        peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        connection.receive(&mut AtMost(1000)).await.unwrap();
        peer.write_all(word).await.unwrap();
        drop(peer);
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(matches!(connection.send(REQUEST, &[]).await, Written::Nothing(_)));
    }
}

#[tokio::test]
async fn a_node_may_refuse_a_request_before_it_has_read_all_of_it() {
    let (mut connection, mut peer) = pair().await;
    let refusing = tokio::spawn(async move {
        let mut some = [0; 1000];
        peer.read_exact(&mut some).await.unwrap();
        let text = b"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\n\r\nno";
        peer.write_all(text).await.unwrap();
        peer
    });
    let large = vec![b'x'; 64 << 20];
    assert!(matches!(connection.send(b"POST /", &large).await, Written::All));
    let (head, body) = connection.receive(&mut AtMost(1000)).await.unwrap();
    assert_eq!((head.status, body.as_ref()), (413, &b"no"[..]));
    assert!(!connection.is_reusable(), "the rest of the request would be taken for the next one");
    drop(refusing.await.unwrap());
}

#[tokio::test]
async fn head_and_body_of_a_request_arrive_as_one_however_large_they_are() {
    for (head, body) in [(0, 5), (5, 0), (700, 14_000), (3 << 20, 9 << 20)] {
        let (mut connection, mut peer) = pair().await;
        let (head, body) = (vec![b'h'; head], vec![b'b'; body]);
        let whole = [head.clone(), body.clone()].concat();
        let reading = tokio::spawn(async move {
            let mut read = vec![0; whole.len()];
            peer.read_exact(&mut read).await.unwrap();
            assert!(read == whole);
            peer
        });
        assert!(matches!(connection.send(&head, &body).await, Written::All));
        reading.await.unwrap();
    }
}

#[tokio::test]
async fn connections_wait_for_a_while_and_only_where_they_can_be_used_again() {
    let idle = IdleConnections::new(Duration::from_secs(4));
    let began = Instant::now();
    let (unused, _peer) = pair().await;
    idle.keep(unused, began);
    assert!(idle.take(began).is_none(), "its last reply, if there was any, was not read");
    let mut peers = Vec::new();
    for at in [0, 1] {
        let (mut connection, mut peer) = pair().await;
        asked(&mut connection).await;
        peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        connection.receive(&mut AtMost(0)).await.unwrap();
        idle.keep(connection, began + Duration::from_secs(at));
        peers.push(peer);
    }
    assert_eq!(idle.close_old(began + Duration::from_secs(4)), 1);
    assert!(idle.take(began + Duration::from_secs(4)).is_some());
    assert!(idle.take(began).is_none());
}
