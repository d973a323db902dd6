//! A process that writes a chain and reads its journal is killed, again and again, at any moment. What
//! its reader kept is in the end the chain, each step of it told once.
//!
//! The child is this test binary itself, told by a variable what to do. `script` says what it writes,
//! `keeper` what its reader keeps, `proof` what must be true of that in the end.

mod acknowledged;
mod keeper;
mod proof;
mod script;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use store::{Options, Store};

use acknowledged::Acknowledged;
use script::{Dice, Script};

/// Folder, seed and mode.
const VARIABLE: &str = "HEADWATER_KILL_READER";
const SEED: u64 = 7;
const READY: &str = "the child is at work";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Write,
    Read,
    Both,
    /// Some more steps, then everything that is missing, and the reader sees all of it.
    Finish,
}

const MODES: [Mode; 4] = [Mode::Both, Mode::Write, Mode::Read, Mode::Finish];

fn options(folder: &Path) -> Options {
    // Only what the reader needs is kept.
    Options { memory_bytes: 32 << 20, journal_entries_min: 0, ..Options::new(folder) }
}

async fn open(folder: &Path) -> Store {
    Store::open(&options(folder), |_| ()).await.unwrap()
}

/// Not a test of its own: nothing happens unless the one below started it.
#[tokio::test]
async fn child() {
    let Ok(told) = std::env::var(VARIABLE) else { return };
    let [folder, seed, mode] = told.split('|').collect::<Vec<_>>().try_into().unwrap();
    let mode = MODES.into_iter().find(|m| format!("{m:?}") == mode).unwrap();
    let store = open(Path::new(folder)).await;
    acknowledged::check(Path::new(folder), &store).await;
    let mut script = Script::at(&store, seed.parse().unwrap()).await;
    let done = &Acknowledged::open(Path::new(folder));
    eprintln!("{READY}");
    let reads = keeper::read(&store, done, keeper::Until::Killed);
    match mode {
        Mode::Read => reads.await,
        Mode::Write => script.write(&store, done, usize::MAX).await,
        Mode::Both => {
            tokio::join!(script.write(&store, done, usize::MAX), reads);
        }
        Mode::Finish => {
            tokio::select! {
                () = script.write(&store, done, 100) => {}
                () = reads => {}
            }
            script.complete(&store).await;
            keeper::read(&store, done, keeper::Until::NothingIsLeft).await;
        }
    }
}

fn start(folder: &Path, mode: Mode) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["kill_reader::child", "--exact", "--nocapture"])
        .env(VARIABLE, format!("{}|{SEED}|{mode:?}", folder.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    child.unwrap()
}

/// Lets it work for that long, then ends it without a word.
fn kill_after(mut child: Child, at_work: Duration) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let before: Vec<String> =
        lines.by_ref().map(Result::unwrap).take_while(|line| !line.contains(READY)).collect();
    if child.try_wait().unwrap().is_some() {
        panic!("the child ended by itself: {}", before.join("\n"));
    }
    std::thread::sleep(at_work);
    assert_eq!(child.try_wait().unwrap(), None, "it works until it is killed");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_reader_that_is_killed_at_any_moment_sees_each_step_once() {
    let kills: u64 = if std::env::var_os("HEADWATER_LONG").is_some() { 50 } else { 8 };
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("store");
    let mut dice = Dice(SEED);
    for n in 0..kills {
        // Every fourth time it only writes, and the reader is away for as long.
        let mode = [Mode::Both, Mode::Write, Mode::Both, Mode::Read][(n % 4) as usize];
        let at_work = Duration::from_micros(dice.below(120_000) as u64);
        kill_after(start(&folder, mode), at_work);
        std::thread::sleep(Duration::from_millis(dice.below(20) as u64));
    }
    let written = open(&folder).await.version(crate::sim_block::CHAIN).await.unwrap().seq;
    assert!(written > kills, "{written} journal entries in {kills} runs");
    eprintln!("{kills} kills, {written} journal entries until then");
    let finished = start(&folder, Mode::Finish).wait_with_output().unwrap();
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    proof::check(&open(&folder).await).await;
}
