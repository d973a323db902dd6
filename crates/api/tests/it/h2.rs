//! HTTP/2 by hand, frame by frame, for what no proper client does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const GOAWAY: u8 = 7;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

pub struct H2 {
    stream: TcpStream,
    next_stream: u32,
}

impl H2 {
    pub fn connect(server: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(server).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        let mut h2 = H2 { stream, next_stream: 1 };
        h2.send(SETTINGS, 0, 0, b"");
        h2
    }

    pub fn get(&mut self, path: &str) {
        let head = head(0x82, path);
        self.send(HEADERS, END_HEADERS | END_STREAM, self.next_stream, &head);
        self.next_stream += 2;
    }

    /// The body has to fit into one frame.
    pub fn post(&mut self, path: &str, body: &[u8]) {
        let head = head(0x83, path);
        self.send(HEADERS, END_HEADERS, self.next_stream, &head);
        self.send(DATA, END_STREAM, self.next_stream, body);
        self.next_stream += 2;
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.stream.write_all(&frame).unwrap();
    }

    /// The kind of the next frame and its payload; none where the server ended the connection.
    pub fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0u8; 9];
        match self.stream.read_exact(&mut head) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("still open"),
            outcome => outcome.ok()?,
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        Some((head[3], payload))
    }
}

/// Method by its number in the standard's table, then scheme, path and authority.
fn head(method: u8, path: &str) -> Vec<u8> {
    let mut head = vec![method, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
    head.extend(path.as_bytes());
    head.extend([0x01, 4]);
    head.extend(b"test");
    head
}
