//! Alerts and dashboard, watched by a real Prometheus while real servers have real trouble.
//!
//! Every alert of `ops/prometheus/alerts.yml` is made to fire by a fault, with a second for every minute of its rule;
//! what happens over hours is `promtool test rules`. Every panel of the dashboard must have something to show then.

mod node_faults;
mod prometheus;
mod receiver;
mod rules;
mod server_faults;
mod world;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::process::Serve;
use crate::world::private;
use prometheus::{Prometheus, is_installed, promtool};
use world::World;

/// Only a broken test waits this long.
const PATIENCE: Duration = Duration::from_secs(300);
/// Alerts that a slow machine alone can make.
const OF_THE_MACHINE: [&str; 3] = ["HeadwaterApiSlow", "HeadwaterHeadNotMoving", "HeadwaterDown"];
/// Alerts of a disk that only root can make.
const OF_THE_DISK: [&str; 4] = [
    "HeadwaterDiskFullSoon",
    "HeadwaterDiskNearlyFull",
    "HeadwaterStoreNotWritable",
    "HeadwaterNotReady",
];

#[test]
fn rules_are_rules_and_hold_over_hours() {
    if !is_installed() {
        return;
    }
    let folder = rules::folder().join("prometheus");
    promtool(&["check", "rules", "alerts.yml"], &folder, "");
    promtool(&["test", "rules", "alerts_test.yml"], &folder, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_alert_fires_for_its_fault_and_every_panel_shows_something() {
    if !is_installed() {
        return;
    }
    let alerts = rules::text("prometheus/alerts.yml");
    let prometheus = Prometheus::start(&rules::a_second_for_a_minute(&alerts)).await;
    let worlds = worlds(&prometheus).await;
    let mut wanted: BTreeSet<(String, String)> = worlds
        .iter()
        .flat_map(|it| it.fires.iter().map(|alert| (it.name.to_owned(), (*alert).to_owned())))
        .collect();
    wanted.insert(("down".into(), "HeadwaterDown".into()));
    wanted.insert(("restarting".into(), "HeadwaterRestarting".into()));
    check_complete(&alerts, &wanted);

    let restarting = restart_again_and_again(&prometheus);
    let fired = tokio::select! {
        fired = until_fired(&prometheus, &wanted) => fired,
        () = restarting => unreachable!("it goes on"),
    };
    let without_reason = fired.iter().filter(|(instance, alert)| {
        instance == "well" && !OF_THE_MACHINE.contains(&alert.as_str())
    });
    assert_eq!(without_reason.collect::<Vec<_>>(), [] as [&(String, String); 0]);
    panels_show_something(&prometheus).await;
    names_are_explained(&prometheus).await;
}

/// All of them at once: the waiting is the same for all.
async fn worlds(prometheus: &Prometheus) -> Vec<World> {
    let mut worlds = vec![
        node_faults::well().await,
        node_faults::some_bad().await,
        node_faults::alone().await,
        node_faults::no_receipts().await,
        node_faults::pruned().await,
        node_faults::reverts().await,
        node_faults::audited().await,
        server_faults::damaged().await,
        server_faults::streams_in_error().await,
        server_faults::webhooks_fail().await,
        server_faults::full_queue().await,
        server_faults::busy().await,
    ];
    worlds.extend(server_faults::full_disk().await);
    for world in &worlds {
        prometheus.watch(world.name, &world.url);
    }
    // Nobody is there.
    prometheus.watch("down", "http://127.0.0.1:9");
    worlds
}

fn check_complete(rules: &str, wanted: &BTreeSet<(String, String)>) {
    let known = rules::names(rules);
    let mut shown: BTreeSet<&str> = wanted.iter().map(|(_, alert)| alert.as_str()).collect();
    if !shown.contains(OF_THE_DISK[0]) {
        eprintln!("SKIPPED: alerts of a full disk");
        shown.extend(OF_THE_DISK);
    }
    assert_eq!(known, shown, "each alert has its fault");
}

/// Gives all that fired on the way.
async fn until_fired(
    prometheus: &Prometheus,
    wanted: &BTreeSet<(String, String)>,
) -> BTreeSet<(String, String)> {
    let (started, mut fired) = (Instant::now(), BTreeSet::new());
    loop {
        fired.extend(prometheus.firing().await);
        let missing: Vec<_> = wanted.difference(&fired).collect();
        if missing.is_empty() {
            eprintln!("{} alerts fired after {:?}", wanted.len(), started.elapsed());
            return fired;
        }
        assert!(started.elapsed() < PATIENCE, "never fired: {missing:?}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// As under a supervisor that does not give up; each start is scraped.
async fn restart_again_and_again(prometheus: &Prometheus) {
    let folder = tempfile::tempdir().unwrap();
    let mut last = None;
    loop {
        let server = private(Serve::of(&folder.path().join("data"))).start();
        prometheus.watch("restarting", server.url());
        loop {
            let now = prometheus.value("process_start_time_seconds", "restarting").await;
            if now.is_some() && now != last {
                last = now;
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        server.kill_nine();
    }
}

async fn panels_show_something(prometheus: &Prometheus) {
    let dashboard = rules::dashboard();
    assert!(dashboard.len() > 40, "{} questions", dashboard.len());
    for asked in dashboard {
        let found = prometheus.query(&asked.expression).await;
        assert!(!found.is_empty(), "{}: nothing for {}", asked.title, asked.expression);
        for label in asked.labels {
            let has_it = found.iter().any(|it| it["metric"].get(&label).is_some());
            assert!(has_it, "{}: no label {label} in {}", asked.title, asked.expression);
        }
    }
}

/// Each metric that a server has stands in the documentation, and has a text of its own.
async fn names_are_explained(prometheus: &Prometheus) {
    let page = std::fs::read_to_string(rules::folder().join("../docs/howto/watch.md")).unwrap();
    let ours = |name: &&String| name.starts_with("headwater_") || name.starts_with("process_");
    for name in prometheus.names().await.iter().filter(ours) {
        let name = ["_bucket", "_sum", "_count"].iter().fold(name.as_str(), |name, part| {
            name.strip_suffix(part).filter(|it| it.ends_with("_seconds")).unwrap_or(name)
        });
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/howto/watch.md");
    }
}
