//! `/openapi.json` as a client meets it. What it says of routes and shapes is held elsewhere: by a unit test beside it, and by the
//! suites of real clients.

use serde_json::Value;

use crate::process::Serve;

async fn document(url: &str) -> Value {
    let answer = reqwest::get(format!("{url}/openapi.json")).await.unwrap();
    assert_eq!(answer.status(), 200, "without a key");
    assert_eq!(answer.headers()["content-type"], "application/json");
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn every_listener_describes_what_it_serves() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serve::of(folder.path()).split("admin").start();
    let [all, admin] = server.urls() else { panic!("two listeners") };
    let (wallet, keys) = ("/api/v2.2/{address}", "/admin/v1/keys");
    for (url, has, lacks) in [(all, wallet, keys), (admin, keys, wallet)] {
        let document = document(url).await;
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
        let paths = document["paths"].as_object().unwrap();
        assert!(paths.contains_key(has) && paths.contains_key("/status"), "{url} has {has}");
        assert!(!paths.contains_key(lacks), "{url} has no {lacks}");
    }
}
