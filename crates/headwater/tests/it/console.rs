//! Where the console is served, and what can be reached from there.

use reqwest::StatusCode;

use crate::process::{KEY, Serve};
use crate::world::Imported;

/// Logged in at this listener, asks for this path of the console; 404 where there is no console.
async fn asked(url: &str, path: &str) -> StatusCode {
    let http = reqwest::Client::new();
    let login = http.post(format!("{url}/console/session")).header("x-headwater-console", "1");
    let login = login.header("content-type", "application/json");
    let login = login.body(format!(r#"{{"key":"{KEY}"}}"#)).send().await.unwrap();
    let Some(cookie) = login.headers().get("set-cookie") else { return StatusCode::NOT_FOUND };
    let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
    let request = http.get(format!("{url}/console/api{path}")).header("x-headwater-console", "1");
    request.header("cookie", cookie).send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_is_where_it_is_told_to_be_and_administrates_where_that_is_meant_to_be() {
    type Split = fn(Serve) -> Serve;
    // What is split off; then for every listener the console's status, and that of its admin surface.
    let cases: [(Split, &[(u16, u16)]); 4] = [
        (|serve| serve, &[(200, 200)]),
        (|serve| serve.split("admin"), &[(200, 404), (404, 404)]),
        (|serve| serve.split("console"), &[(404, 404), (200, 200)]),
        (|serve| serve.split("admin").split("console"), &[(404, 404), (404, 404), (200, 200)]),
    ];
    for (split, expected) in cases {
        let world = Imported::with(1, split);
        let mut found = Vec::new();
        for url in world.server.urls() {
            let status = asked(url, "/status").await.as_u16();
            found.push((status, asked(url, "/admin/v1/keys").await.as_u16()));
            let page = reqwest::get(format!("{url}/")).await.unwrap().status().as_u16();
            assert_eq!(page == 200, status == 200, "{url}");
        }
        assert_eq!(found, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_that_is_off_is_nowhere() {
    let world = Imported::with(1, |serve| serve.set("console.enabled", "false"));
    for url in world.server.urls() {
        assert_eq!(asked(url, "/status").await, 404);
        assert_ne!(reqwest::get(format!("{url}/")).await.unwrap().status(), 200);
    }
}
