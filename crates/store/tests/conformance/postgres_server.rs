//! The one PostgreSQL server of this test binary. Each test has databases of its own in it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use store::{Options, Store};
use tokio_postgres::{Client, NoTls};

use crate::postgres_process::PostgresProcess;

const TEMPLATE: &str = "headwater_template";

pub struct Server {
    process: PostgresProcess,
    /// Databases by the folder that stands for them.
    databases: Mutex<Vec<(PathBuf, String)>>,
    template: tokio::sync::OnceCell<()>,
}

/// None where PostgreSQL is not installed, which is said once.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let start = || {
        let process = PostgresProcess::start()?;
        let (databases, template) = (Mutex::default(), tokio::sync::OnceCell::new());
        Some(Server { process, databases, template })
    };
    SERVER.get_or_init(start).as_ref()
}

impl Server {
    /// Where its socket is.
    pub fn folder(&self) -> &Path {
        self.process.folder()
    }

    pub fn url(&self, database: &str) -> String {
        self.process.url(database)
    }

    pub async fn client(&self, database: &str) -> Client {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match tokio_postgres::connect(&self.url(database), NoTls).await {
                Ok((client, connection)) => {
                    tokio::spawn(connection);
                    return client;
                }
                Err(error) => assert!(Instant::now() < until, "{error:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The one that a folder stands for; an empty one with its schema the first time.
    pub async fn database(&self, folder: &Path) -> String {
        let known = self.databases.lock().unwrap().iter().find(|(of, _)| of == folder).cloned();
        if let Some((_, name)) = known {
            return name;
        }
        self.template.get_or_init(|| self.make_template()).await;
        let admin = self.client("postgres").await;
        let gone = self.forget_gone();
        for name in gone {
            admin.batch_execute(&format!("drop database {name} with (force)")).await.unwrap();
        }
        static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("test_{number}");
        admin.batch_execute(&format!("create database {name} template {TEMPLATE}")).await.unwrap();
        self.stands_for(folder, &name);
        name
    }

    fn stands_for(&self, folder: &Path, name: &str) {
        std::fs::create_dir_all(folder).unwrap();
        self.databases.lock().unwrap().push((folder.to_owned(), name.to_owned()));
    }

    /// Databases that no folder stands for any more.
    fn forget_gone(&self) -> Vec<String> {
        let mut databases = self.databases.lock().unwrap();
        let (kept, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut *databases).into_iter().partition(|(folder, _)| folder.exists());
        let mut names: Vec<String> = gone.into_iter().map(|(_, name)| name).collect();
        // A crash leaves two folders with the same one.
        names.sort();
        names.dedup();
        names.retain(|name| kept.iter().all(|(_, used)| used != name));
        *databases = kept;
        names
    }

    async fn make_template(&self) {
        let admin = self.client("postgres").await;
        admin.batch_execute(&format!("create database {TEMPLATE}")).await.unwrap();
        let options = Options { url: self.url(TEMPLATE), ..Options::new(self.process.folder()) };
        drop(Store::open(&options, |_| ()).await.unwrap());
        // What tells it from others is not for copies of it.
        let forget = "delete from meta where key = 'database'";
        self.client(TEMPLATE).await.batch_execute(forget).await.unwrap();
        self.disconnect(TEMPLATE).await;
    }

    /// Ends all sessions of a database, whatever they are in the middle of.
    pub async fn disconnect(&self, database: &str) {
        let admin = self.client("postgres").await;
        let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
        while !admin.query(end, &[&database]).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What a crash of the client leaves: every session ends where it is, and what was committed stays.
    pub fn crash(&self, from: &Path, to: &Path) {
        let known = self.databases.lock().unwrap().iter().find(|(of, _)| of == from).cloned();
        let (_, name) = known.unwrap();
        self.stands_for(to, &name);
        std::thread::scope(|scope| {
            let end = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(self.disconnect(&name));
            };
            scope.spawn(end).join().unwrap();
        });
    }
}
