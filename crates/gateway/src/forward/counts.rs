//! How many calls of each method were answered, and from where. Only methods of the table are told apart.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::Counter;
use serde::Serialize;

use super::Source;
use crate::methods::METHODS;

/// Answers by where they came from, then errors.
type Cells = [Cell; Source::ALL.len() + 1];

#[derive(Default)]
struct Cell {
    count: AtomicU64,
    /// Asked of the recorder once and not once per call.
    meter: OnceLock<Counter>,
}

impl Cell {
    fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// One row for each method of the table, and one for all others.
pub struct Counts {
    rows: Vec<Cells>,
}

/// As /status shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MethodCounts {
    pub store: u64,
    pub cache: u64,
    pub node: u64,
    pub gateway: u64,
    pub errors: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { rows: (0..=METHODS.len()).map(|_| Cells::default()).collect() }
    }
}

impl Counts {
    /// `None` for a call that failed or was refused.
    pub fn add(&self, method: &str, source: Option<Source>) {
        let place = METHODS.binary_search_by(|row| row.name.cmp(method)).ok();
        let column = source.map_or(Source::ALL.len(), |source| source as usize);
        let cells = self.rows.get(place.unwrap_or(METHODS.len()));
        let Some(cell) = cells.and_then(|cells| cells.get(column)) else { return };
        cell.count.fetch_add(1, Ordering::Relaxed);
        let meter = cell.meter.get_or_init(|| {
            let label = place.and_then(|at| METHODS.get(at)).map_or("other", |row| row.name);
            let from = source.map_or("error", Source::name);
            metrics::counter!("headwater_rpc_answers_total", "method" => label, "from" => from)
        });
        meter.increment(1);
    }

    /// Methods that were called at all.
    pub fn status(&self) -> BTreeMap<&'static str, MethodCounts> {
        let names = METHODS.iter().map(|method| method.name).chain(["other"]);
        let rows = names.zip(&self.rows).map(|(name, cells)| {
            let [gateway, store, cache, node, errors] = cells.each_ref().map(Cell::get);
            (name, MethodCounts { store, cache, node, gateway, errors })
        });
        rows.filter(|(_, counts)| *counts != MethodCounts::default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_methods_of_the_table_are_told_apart() {
        let counts = Counts::default();
        counts.add("eth_call", Some(Source::Node));
        counts.add("eth_call", Some(Source::Cache));
        counts.add("eth_call", None);
        counts.add("made_up", None);
        counts.add("made_up_too", Some(Source::Node));
        let status = counts.status();
        let call = MethodCounts { cache: 1, node: 1, errors: 1, ..MethodCounts::default() };
        assert_eq!(status.get("eth_call"), Some(&call));
        assert_eq!(
            status.get("other"),
            Some(&MethodCounts { node: 1, errors: 1, ..Default::default() })
        );
        assert_eq!(status.len(), 2);
    }
}
