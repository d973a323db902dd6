//! The cookie that stands for a session. It is sent to `/console` only, so no other host ever sees it.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, ORIGIN};

const NAME: &str = "headwater_console";

/// The session's id, as the browser sends it.
pub fn read(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == NAME).then_some(value))
}

/// No script can read it, and no other site can have it sent. It goes with the browser at the latest; how long it is good
/// for is the server's to say. An empty id takes it away. Where the page came over https, it goes back over
/// https alone; browsers name the page's origin with every login.
pub fn write(id: &str, headers: &HeaderMap) -> String {
    let is_https =
        headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https:"));
    let secure = if is_https { "; Secure" } else { "" };
    let end = if id.is_empty() { "; Max-Age=0" } else { "" };
    format!("{NAME}={id}; Path=/console; HttpOnly; SameSite=Strict{secure}{end}")
}
