//! WebSockets among the other connections: they count, and they go when the server does.

use std::time::{Duration, Instant};

use api::Stage;
use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::socket::Socket;
use crate::test_server::{KEY, TestServer};

fn url(server: &TestServer) -> String {
    format!("ws://{}/sim/{KEY}", server.address)
}

fn is_answered(socket: &mut Socket) -> bool {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
    socket.ask(&call)["result"] == "0x539"
}

#[test]
fn a_socket_is_told_to_go_when_the_server_stops() {
    let mut server = TestServer::new();
    let mut socket = Socket::connect(&url(&server));
    assert!(is_answered(&mut socket));
    server.step(Stage::Notice);
    let word = loop {
        match socket.next() {
            Message::Ping(_) => {}
            other => break other,
        }
    };
    let Message::Close(Some(frame)) = word else { panic!("{word:?}") };
    assert_eq!(frame.code, CloseCode::Away);
    server.step(Stage::Draining);
    server.until_drained();
}

#[test]
fn a_client_has_so_many_sockets_and_no_more_until_one_is_closed() {
    const SOCKETS: usize = 4;
    let server = TestServer::with(|parts| parts.listen.connections_per_address_max = SOCKETS);
    let mut sockets: Vec<Socket> = (0..SOCKETS).map(|_| Socket::connect(&url(&server))).collect();
    assert!(sockets.iter_mut().all(is_answered));
    match Socket::try_connect(&url(&server)) {
        Err(Error::Http(refusal)) => assert_eq!(refusal.status().as_u16(), 503),
        Err(_) => {}
        Ok(_) => panic!("one more than allowed"),
    }
    assert!(sockets.iter_mut().all(is_answered), "the others stay");
    drop(sockets.pop());
    let started = Instant::now();
    let mut again = loop {
        match Socket::try_connect(&url(&server)) {
            Ok(socket) => break socket,
            Err(_) => assert!(started.elapsed() < Duration::from_secs(60), "no room comes"),
        }
    };
    assert!(is_answered(&mut again));
}
