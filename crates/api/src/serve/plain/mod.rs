//! Plain HTTP/1.1: requests as nearly all clients send them, read and answered without the HTTP library.
//!
//! A request that is answered from memory takes a few microseconds, of which the library's own work is a good part
//! (docs/adr/0021). What counts as plain is narrow (`head`): one known method, a body of known length that is all there,
//! nothing to negotiate. At the first request that is anything else the connection goes to the library, with all that was
//! read of it, and stays there.

mod answer;
mod head;
mod socket;

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::Full;

use super::one_connection::Answering;
use super::stream::Watched;
use head::PlainHead;
use socket::PlainSocket;

/// A longer head is read by the library, which knows the limits.
const HEAD_BYTES_MAX: usize = 8 << 10;
/// A longer body is read while it comes: the library has it in pieces.
const BODY_BYTES_MAX: usize = 64 << 10;

/// Which plain requests are answered here.
#[derive(Clone, Copy, PartialEq)]
pub enum Serves {
    All,
    /// Up to the first call of the node RPC, which another thread is to answer.
    UntilCall,
    Calls,
}

/// What is left of a connection, with all that was read and not answered.
pub enum Left {
    Nothing,
    Call(Watched),
    /// A request that is not answered here.
    Other(Watched),
}

enum Next {
    Request,
    End,
    Call,
    Other,
}

/// Answers plain requests for as long as they come. `is_ending`: no request after the one under way.
pub async fn converse(
    io: Watched,
    answering: &mut Answering,
    is_ending: &AtomicBool,
    serves: Serves,
) -> Left {
    let mut socket = PlainSocket::new(io);
    loop {
        match exchange(&mut socket, answering, serves).await {
            Ok(Next::Request) if !is_ending.load(Ordering::Relaxed) => {}
            Ok(Next::Call) => return Left::Call(socket.give_back()),
            Ok(Next::Other) => return Left::Other(socket.give_back()),
            Ok(Next::Request | Next::End) => {
                // Whoever is gone already need not be told.
                let _ = socket.shutdown().await;
                return Left::Nothing;
            }
            Err(_) => return Left::Nothing,
        }
    }
}

/// One request and its answer.
async fn exchange(
    socket: &mut PlainSocket,
    answering: &mut Answering,
    serves: Serves,
) -> io::Result<Next> {
    if !socket.has_more().await? {
        return Ok(Next::End);
    }
    let is_short =
        |head: &PlainHead| head.head_bytes <= HEAD_BYTES_MAX && head.body_bytes <= BODY_BYTES_MAX;
    let Some(head) = head::read(&socket.read).filter(is_short) else { return Ok(Next::Other) };
    let PlainHead { request, head_bytes, body_bytes, is_last } = head;
    // Whoever waits for the rest of a body is at work, and is known to be only once the library has the head.
    if !socket.has_already(head_bytes + body_bytes).await? {
        return Ok(Next::Other);
    }
    let call = answering.call_of(&request);
    match (serves, &call) {
        (Serves::UntilCall, Some(_)) => return Ok(Next::Call),
        (Serves::Calls, None) => return Ok(Next::Other),
        _ => {}
    }
    let mut body = socket.read.split_to(head_bytes + body_bytes);
    let body = Full::new(body.split_off(head_bytes));
    let answered = pin!(answering.answer(request.map(|()| body), call));
    // The request's place is given back when the client has its answer.
    let (response, _place) = socket.while_there(answered).await?;
    let has_ended = answer::write(socket, response, is_last).await?;
    Ok(if has_ended { Next::End } else { Next::Request })
}
