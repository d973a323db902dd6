//! The same test on a data folder and on PostgreSQL: `async fn name(url: &str)`, with an empty URL for the folder.

macro_rules! on_both_engines {
    ($name:ident) => {
        mod embedded {
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name("").await;
            }
        }
        mod postgres {
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let Some(server) = crate::postgres_process::PostgresProcess::start() else {
                    return;
                };
                super::$name(&server.url("postgres")).await;
            }
        }
    };
}

pub(crate) use on_both_engines;
