//! One process of role api against two on the same database.

use std::time::Duration;

use anyhow::Result;

use super::{Arguments, served};
use crate::big_wallet::wallet;
use crate::process::{KEY, Server};
use crate::{load, say};

const CONNECTIONS: usize = 16;

pub async fn run(options: &Arguments, url: &str, cores: usize) -> Result<()> {
    let (mut one, mut two) = (0f64, 0f64);
    let role = ["--role".to_owned(), "api".to_owned()];
    let (first, second) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let first = served(&options.headwater, first.path(), url, &role).await?;
    let second = served(&options.headwater, second.path(), url, &role).await?;
    let lasts = Duration::from_secs(options.seconds);
    for _ in 0..options.rounds {
        one = one.max(rate(&first, CONNECTIONS, lasts).await?);
        let both = tokio::join!(
            rate(&first, CONNECTIONS / 2, lasts),
            rate(&second, CONNECTIONS / 2, lasts)
        );
        two = two.max(both.0? + both.1?);
    }
    first.process.stop()?;
    second.process.stop()?;
    let shared = if cores < 6 {
        "; client, database and processes share these cores, so two processes can show little more than one"
    } else {
        ""
    };
    say(&format!(
        "  wallet page, {CONNECTIONS} connections, requests/s: one api process {one:.0}, two {two:.0}: {:.2} x on {cores} cores{shared}",
        two / one
    ))
}

async fn rate(server: &Server, connections: usize, lasts: Duration) -> Result<f64> {
    let path = format!("/api/v2.2/{:#x}?chain=eth&limit=25", wallet(2));
    let (headers, address) =
        (format!("x-api-key: {KEY}\r\n"), server.url.trim_start_matches("http://"));
    Ok(load::run(address, &path, &headers, connections, lasts).await?.requests_per_s)
}
