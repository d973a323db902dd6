//! (e) Whether a receiver that is dead delays the others. One server, and one receiver of many that is alive and dead by turns: what
//! differs between servers, and between minutes of a shared machine, is then in both.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;

use super::StreamOptions;
use super::fickle::Fickle;
use super::host::Host;
use super::latency::{QUICK, busy};
use super::receiver::Receiver;
use crate::machine::{Testimony, Witness, now_us};
use crate::quantile::quantile;
use crate::say;

/// Eight seconds: a dead receiver has one attempt that ends in vain, and one that is under way when it is alive again.
const ROUND_BLOCKS: usize = 32;
/// Two rounds of each, in an order in which neither comes first.
const TURNS: [bool; 4] = [true, false, false, true];
/// What waited for the dead one is gone when it had nothing to answer for so long.
const PAUSE: Duration = Duration::from_secs(1);

struct Round {
    is_alive: bool,
    /// When each block was born, microseconds since 1970.
    born: HashMap<u64, u64>,
    /// Webhooks that the fickle receiver took meanwhile.
    answered: u64,
}

/// Milliseconds from a block's birth to each webhook that tells of it, sorted.
struct Times {
    is_alive: bool,
    all: Vec<f64>,
}

pub async fn dead_receiver(options: &StreamOptions<'_>) -> Result<()> {
    let receiver = Receiver::start().await?;
    let host = Host::start(options.headwater, busy()).await?;
    host.streams(&receiver, options.streams, 2).await?;
    let fickle = Fickle::start().await?;
    let wallets = testkit::read(&host.chain).wallets();
    host.stream(&fickle.url, &wallets).await?;
    // Neither is the first to be sent to.
    round(&host, &fickle, true).await?;
    let witness = Witness::start();
    let mut rounds = Vec::new();
    for _ in 0..options.rounds {
        for is_alive in TURNS {
            rounds.push(round(&host, &fickle, is_alive).await?);
        }
    }
    let machine = witness.stop()?;
    let taken: Vec<(u64, u64)> = receiver.times().await?.into_values().flatten().collect();
    host.stop()?;
    let times: Vec<Times> = rounds.iter().map(|round| times_of(round, &taken)).collect();
    report(options, (&rounds, &times), &machine)
}

/// All is quiet before it and after it.
async fn round(host: &Host, fickle: &Fickle, is_alive: bool) -> Result<Round> {
    fickle.be(is_alive);
    let before = fickle.answered();
    let mut born = HashMap::new();
    let mut ticks = tokio::time::interval(QUICK);
    for _ in 0..ROUND_BLOCKS {
        ticks.tick().await;
        host.extend(1);
        // The block is made and announced when `extend` returns.
        born.insert(host.head(), now_us());
    }
    // The last ones arrive.
    tokio::time::sleep(PAUSE).await;
    let answered = fickle.answered() - before;
    fickle.be(true);
    fickle.quiet(PAUSE).await;
    anyhow::ensure!(is_alive == (answered > 0), "it took {answered} webhooks");
    Ok(Round { is_alive, born, answered })
}

fn times_of(round: &Round, taken: &[(u64, u64)]) -> Times {
    let ms = |(block, at): &(u64, u64)| {
        let born = round.born.get(block)?;
        Some(at.saturating_sub(*born) as f64 / 1e3)
    };
    let mut all: Vec<f64> = taken.iter().filter_map(ms).collect();
    all.sort_by(f64::total_cmp);
    Times { is_alive: round.is_alive, all }
}

fn report(
    options: &StreamOptions<'_>,
    (rounds, times): (&[Round], &[Times]),
    machine: &Testimony,
) -> Result<()> {
    say(&format!(
        "streams (e) block to webhook of {} receivers beside one that is alive and dead by turns; a block every {:.2} s, \
         {} rounds of {ROUND_BLOCKS} blocks each",
        options.streams,
        QUICK.as_secs_f64(),
        rounds.len() / 2
    ))?;
    for (is_alive, name) in [(true, "alive"), (false, "dead")] {
        let of: Vec<&Times> = times.iter().filter(|it| it.is_alive == is_alive).collect();
        let webhooks: usize = of.iter().map(|it| it.all.len()).sum();
        let its_own: u64 =
            rounds.iter().filter(|it| it.is_alive == is_alive).map(|it| it.answered).sum();
        let p99: Vec<f64> = of.iter().map(|it| quantile(&it.all, 0.99)).collect();
        say(&format!(
            "  {name:6} medians of rounds: p50 {:6.1} ms  p99 {:6.1} ms  ({webhooks} webhooks, and {its_own} of its own; p99 of rounds: {})",
            median(of.iter().map(|it| quantile(&it.all, 0.5))),
            median(p99.iter().copied()),
            p99.iter().map(|ms| format!("{ms:.0}")).collect::<Vec<_>>().join(" ")
        ))?;
    }
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        let all: Vec<f64> = times.iter().map(|it| quantile(&it.all, share)).collect();
        let pairs = all.as_chunks::<2>().0.iter().zip(TURNS.as_chunks::<2>().0.iter().cycle());
        // A pair has one of each.
        let ratios = pairs.map(
            |([one, other], [is_alive, _])| {
                if *is_alive { other / one } else { one / other }
            },
        );
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        // Two rounds of the same: what of the difference is nobody's.
        let same: Vec<f64> = [true, false]
            .into_iter()
            .flat_map(|is_alive| {
                let of = times.iter().zip(&all).filter(move |(it, _)| it.is_alive == is_alive);
                let of: Vec<f64> = of.map(|(_, ms)| *ms).collect();
                of.as_chunks::<2>()
                    .0
                    .iter()
                    .map(|[a, b]| f64::max(a / b, b / a))
                    .collect::<Vec<_>>()
            })
            .collect();
        say(&format!(
            "  {name} dead / alive, in pairs of neighbours: median {:.2}, half of them {:.2} to {:.2}; two rounds of the same differ by {:.2} x",
            quantile(&ratios, 0.5),
            quantile(&ratios, 0.25),
            quantile(&ratios, 0.75),
            median(same.into_iter())
        ))?;
    }
    say(&format!(
        "  machine: {:.0} % of its time went to others, longest pause {:.0} ms",
        machine.steal_percent.unwrap_or_default(),
        machine.longest_ms()
    ))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    quantile(&all, 0.5)
}
