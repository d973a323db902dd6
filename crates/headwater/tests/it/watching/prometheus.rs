//! A real Prometheus that scrapes every second, with the rules of `ops/prometheus` made faster.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(120);

pub struct Prometheus {
    child: Child,
    url: String,
    folder: tempfile::TempDir,
    targets: Mutex<Vec<(String, String)>>,
}

/// Debian's package has both.
pub fn is_installed() -> bool {
    let answers = |program| Command::new(program).arg("--version").output().is_ok();
    let installed = answers("prometheus") && answers("promtool");
    if !installed {
        eprintln!("SKIPPED: Prometheus is not installed (Debian: apt-get install prometheus)");
    }
    installed
}

/// Runs promtool, which must be content; gives what it said.
pub fn promtool(args: &[&str], folder: &Path, stdin: &str) -> String {
    use std::io::Write;
    let mut command = Command::new("promtool");
    command.args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "promtool {args:?}: {said}");
    said
}

impl Prometheus {
    pub async fn start(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("alerts.yml"), rules).unwrap();
        std::fs::write(at("targets.json"), "[]").unwrap();
        std::fs::write(at("prometheus.yml"), CONFIG).unwrap();
        // Free when it was asked for; whoever takes it meanwhile makes the start fail, which is told.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let log = std::fs::File::create(at("log")).unwrap();
        let child = Command::new("prometheus")
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg(format!("--web.listen-address={address}"))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let url = format!("http://{address}");
        let prometheus = Prometheus { child, url, folder, targets: Mutex::default() };
        prometheus.until_ready().await;
        prometheus
    }

    async fn until_ready(&self) {
        let started = Instant::now();
        loop {
            let ready = reqwest::get(format!("{}/-/ready", self.url)).await;
            if ready.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap();
            assert!(started.elapsed() < PATIENCE, "{}", log());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// From now on the instance of this name is found there.
    pub fn watch(&self, name: &str, url: &str) {
        let mut targets = self.targets.lock().unwrap();
        targets.retain(|(known, _)| known != name);
        targets.push((name.to_owned(), url.strip_prefix("http://").unwrap().to_owned()));
        let groups = targets
            .iter()
            .map(|(name, address)| json!({ "targets": [address], "labels": { "instance": name } }));
        let text = Value::Array(groups.collect()).to_string();
        let (new, file) = ("targets.new", "targets.json");
        let at = |name: &str| self.folder.path().join(name);
        std::fs::write(at(new), text).unwrap();
        std::fs::rename(at(new), at(file)).unwrap();
    }

    async fn get(&self, path: &str, query: &[(&str, &str)]) -> Value {
        let url = reqwest::Url::parse_with_params(&format!("{}{path}", self.url), query).unwrap();
        let text = reqwest::get(url).await.unwrap().text().await.unwrap();
        let mut answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["status"], "success", "{query:?}: {text}");
        answer["data"].take()
    }

    /// Alerts that fire now: instance and name.
    pub async fn firing(&self) -> BTreeSet<(String, String)> {
        let data = self.get("/api/v1/alerts", &[]).await;
        let fires = data["alerts"].as_array().unwrap().iter().filter(|it| it["state"] == "firing");
        let text = |alert: &Value, label: &str| alert["labels"][label].as_str().map(str::to_owned);
        fires.map(|it| (text(it, "instance").unwrap(), text(it, "alertname").unwrap())).collect()
    }

    /// What a query gives now.
    pub async fn query(&self, expression: &str) -> Vec<Value> {
        let data = self.get("/api/v1/query", &[("query", expression)]).await;
        data["result"].as_array().unwrap().clone()
    }

    /// Every name that was ever scraped.
    pub async fn names(&self) -> BTreeSet<String> {
        let names = self.get("/api/v1/label/__name__/values", &[]).await;
        names.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    }

    /// The figure of an instance, as it was scraped last.
    pub async fn value(&self, name: &str, instance: &str) -> Option<f64> {
        let found = self.query(&format!("{name}{{instance=\"{instance}\"}}")).await;
        found.first()?["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CONFIG: &str = "
global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [alerts.yml]
scrape_configs:
  - job_name: headwater
    file_sd_configs: [{ files: [targets.json], refresh_interval: 1s }]
";
