//! Targets inside the network are refused, however they are written and whatever changes; with real sockets that
//! must stay untouched.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use streams::delivery::{Deliverer, DeliveryConfig};
use streams::signature::Secrets;
use streams::target::Lookup;
use tokio::net::TcpListener;

use crate::receiver::{Answer, Receiver};
use crate::world::{World, config};

const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1));
const TWO: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Answers with one list after the other, the last one for ever.
struct ChangingNames(Mutex<Vec<Vec<IpAddr>>>);

impl Lookup for ChangingNames {
    fn lookup(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        async move { Ok(answer) }.boxed()
    }
}

async fn call(deliverer: &Deliverer, url: &str) -> Result<(), String> {
    deliverer.test_call(url, &Secrets::new("s"), "us-east-1").await
}

fn deliverer(world: &World, names: Vec<Vec<IpAddr>>) -> Arc<Deliverer> {
    let names = Arc::new(ChangingNames(Mutex::new(names)));
    Deliverer::start_with(world.store.clone(), config(), world.directory.clone(), names).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn by_default_nothing_on_this_machine_is_reached_by_any_name() {
    let (receiver, world) = (Receiver::healthy().await, World::new().await);
    let everywhere = Receiver::start_at("[::]:0", |_| Answer::Status(200)).await;
    let deliverer = world.start(DeliveryConfig { allow_private_targets: Vec::new(), ..config() });
    let hostname = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    for host in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "ip6-localhost",
        hostname.trim(),
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "user@127.0.0.1",
        "user:pass@localhost",
        "example.com@localhost",
    ] {
        for port in [receiver.port(), everywhere.port()] {
            let refused = call(&deliverer, &format!("http://{host}:{port}/")).await.unwrap_err();
            let says = [
                "allow_private_targets",
                "user name or password",
                "not known",
                "resolve",
                "lookup",
                "not a URL",
            ];
            assert!(says.iter().any(|says| refused.contains(says)), "{host}: {refused}");
        }
    }
    assert!(receiver.got().is_empty() && everywhere.got().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_changes_between_check_and_connection_reaches_nothing() {
    let outside = Receiver::start(|_| Answer::With(200, "connection", "close".into())).await;
    let inside =
        Receiver::start_at(&format!("127.0.0.2:{}", outside.port()), |_| Answer::Status(200)).await;
    let world = World::new().await;
    let url = format!("http://rebinding.example:{}/", outside.port());
    let deliverer = deliverer(&world, vec![vec![ONE], vec![TWO]]);
    call(&deliverer, &url).await.unwrap();
    let refused = call(&deliverer, &url).await.unwrap_err();
    assert!(refused.contains("the host resolves to a loopback address"), "{refused}");
    assert!(!refused.contains("127."), "which one is nobody's business: {refused}");
    assert_eq!((outside.got().len(), inside.got().len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_addresses_only_open_ones_are_connected_to() {
    let outside = Receiver::start(|_| Answer::With(200, "connection", "close".into())).await;
    let inside =
        Receiver::start_at(&format!("127.0.0.2:{}", outside.port()), |_| Answer::Status(200)).await;
    let world = World::new().await;
    let url = format!("http://both.example:{}/", outside.port());
    let deliverer = deliverer(&world, vec![vec![TWO, ONE], vec![ONE, TWO], vec![TWO]]);
    call(&deliverer, &url).await.unwrap();
    call(&deliverer, &url).await.unwrap();
    call(&deliverer, &url).await.unwrap_err();
    assert_eq!((outside.got().len(), inside.got().len()), (2, 0));
    let nowhere = self::deliverer(&world, vec![vec![]]);
    assert!(call(&nowhere, &url).await.unwrap_err().contains("the host has no address"));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed_inside_or_anywhere() {
    let inside = Receiver::start_at("127.0.0.2:0", |_| Answer::Status(200)).await;
    let open = Receiver::healthy().await;
    let world = World::new().await;
    let deliverer = world.start(config());
    for status in [301, 302, 303, 307, 308] {
        for to in [inside.url.clone(), open.url.clone()] {
            let receiver =
                Receiver::start(move |_| Answer::With(status, "location", to.clone())).await;
            let refused = call(&deliverer, &receiver.url).await.unwrap_err();
            assert!(refused.contains("redirects are not followed"), "{refused}");
        }
    }
    assert!(inside.got().is_empty() && open.got().is_empty());
}

const CHILD_TARGET: &str = "HEADWATER_TEST_PROXY_TARGET";

/// The environment of a process is its own: the test runs itself again with proxies set.
#[test]
fn proxies_of_the_environment_are_not_asked() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    match std::env::var(CHILD_TARGET) {
        Ok(url) => runtime.block_on(async {
            let world = World::new().await;
            call(&world.start(config()), &url).await.unwrap();
            let named = url.replace("127.0.0.1", "some.example");
            call(&deliverer(&world, vec![vec![ONE]]), &named).await.unwrap();
            let inside = url.replace("127.0.0.1", "127.0.0.2");
            call(&world.start(config()), &inside).await.unwrap_err();
        }),
        Err(_) => runtime.block_on(with_proxies()),
    }
}

async fn with_proxies() {
    let receiver = Receiver::healthy().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    tokio::spawn({
        let asked = asked.clone();
        async move {
            while listener.accept().await.is_ok() {
                asked.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "guard::proxies_of_the_environment_are_not_asked"]);
    child.env(CHILD_TARGET, &receiver.url).env_remove("NO_PROXY").env_remove("no_proxy");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        child.env(name, &proxy);
    }
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(receiver.got().len(), 2);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}
