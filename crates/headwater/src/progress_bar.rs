//! A bar with rate and time left at a terminal; a log line at intervals elsewhere.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::progress_terminal::ProgressTerminal;

static BARS: OnceLock<MultiProgress> = OnceLock::new();

/// At a terminal, how often the bars are drawn at most.
const REDRAWS_PER_S: u8 = 20;
/// Without a terminal, how often a line is written.
const LINE_EVERY: Duration = Duration::from_secs(10);

fn bars() -> &'static MultiProgress {
    let target =
        || ProgressDrawTarget::term_like_with_hz(Box::new(ProgressTerminal), REDRAWS_PER_S);
    BARS.get_or_init(|| MultiProgress::with_draw_target(target()))
}

/// Runs with the bars out of the way, so that lines of the log do not tear them.
pub fn suspended<T>(work: impl FnOnce() -> T) -> T {
    match BARS.get() {
        Some(bars) => bars.suspend(work),
        None => work(),
    }
}

pub struct Bar {
    bar: Option<ProgressBar>,
    what: String,
    /// What is counted.
    unit: &'static str,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    /// Done before the bar began: no part of the rate.
    before: u64,
    done: u64,
    total: u64,
    transactions: u64,
    line_at: Instant,
    /// Of the last line: one that says the same is not written.
    line_done: u64,
}

impl Bar {
    /// Counts blocks.
    pub fn new(what: &str, total: u64) -> Self {
        Bar::of("blocks", what, total)
    }

    pub fn of(unit: &'static str, what: &str, total: u64) -> Self {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let bar = terminal.then(|| {
            let style = format!(
                "{{prefix:>10}} [{{bar:30}}] {{pos}}/{{len}} {unit}, {{msg}}, {{eta}} left"
            );
            let style = ProgressStyle::with_template(&style)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = bars().add(ProgressBar::new(total).with_style(style));
            bar.set_prefix(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        let now = Instant::now();
        let state =
            State { before: 0, done: 0, total, transactions: 0, line_at: now, line_done: 0 };
        Bar { bar, what: what.to_owned(), unit, started: now, state: Mutex::new(state) }
    }

    /// For work that goes on where it ended once.
    pub fn going_on(what: &str, done: u64, total: u64) -> Self {
        let bar = Bar::new(what, total);
        bar.state.lock().unwrap_or_else(|e| e.into_inner()).before = done;
        bar
    }

    /// Absolute values: blocks done of all, transactions in them.
    pub fn set(&self, done: u64, total: u64, transactions: u64) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        (state.done, state.total, state.transactions) = (done, total, transactions);
        self.show(&mut state);
    }

    pub fn add(&self, blocks: u64, transactions: u64) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.done += blocks;
        state.total = state.total.max(state.done);
        state.transactions += transactions;
        self.show(&mut state);
    }

    fn show(&self, state: &mut State) {
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let blocks_s = state.done.saturating_sub(state.before) as f64 / seconds;
        let txs_s = state.transactions as f64 / seconds;
        match &self.bar {
            Some(bar) => {
                bar.set_length(state.total);
                bar.set_position(state.done);
                bar.set_message(match state.transactions {
                    0 => format!("{blocks_s:.0} {}/s", self.unit),
                    _ => format!("{blocks_s:.0} blocks/s, {txs_s:.0} transactions/s"),
                });
            }
            None if state.line_at.elapsed() >= LINE_EVERY && state.done != state.line_done => {
                (state.line_at, state.line_done) = (Instant::now(), state.done);
                let left_s = state.total.saturating_sub(state.done) as f64 / blocks_s.max(0.001);
                tracing::info!(
                    what = %self.what, unit = self.unit, done = state.done, total = state.total,
                    per_s = blocks_s as u64, transactions_per_s = txs_s as u64,
                    left_s = left_s as u64, "progress"
                );
            }
            None => {}
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}
