//! Runs against a sorted map that holds the same rows.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use model::chain::ChainId;
use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::embedded::engine::Slice;

const CHAIN: ChainId = ChainId(7);
const TABLE: RunTable = RunTable::LogWords;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn run_of(rows: &[(Vec<u8>, Vec<u8>)]) -> Arc<Run> {
    let mut builder = RunBuilder::default();
    builder.add_block(5);
    builder.add_block(3);
    for (key, value) in rows.iter().rev() {
        builder.add(TABLE, key, value);
    }
    let run = builder.finish(CHAIN, 9);
    assert_eq!(run.blocks.ranges(), [(3, 3), (5, 5)]);
    Arc::new(run)
}

fn full(key: &[u8]) -> Vec<u8> {
    [CHAIN.0.to_be_bytes().as_slice(), key].concat()
}

fn table_rows(rows: &Rows) -> Vec<Result<(Slice, Slice), Error>> {
    rows.iter().map(|(key, value)| Ok((Slice::from(&**key), Slice::from(&**value)))).collect()
}

proptest! {
    #[test]
    fn merged_rows_are_those_of_one_sorted_map_from_both_ends(
        rows in prop::collection::btree_map(
            prop::collection::vec(0u8..4, 0..5),
            (prop::collection::vec(any::<u8>(), 0..3), 0usize..5),
            0..40,
        ),
        ends in (prop::collection::vec(0u8..4, 0..4), prop::collection::vec(0u8..4, 0..4)),
        turns in prop::collection::vec(any::<bool>(), 60),
    ) {
        let (low, high) = (full(&ends.0), full(&ends.1));
        prop_assume!(low <= high);
        // Each row is in one of three runs, in the table, or in a run and in the table.
        let of = |places: &[usize]| -> Vec<(Vec<u8>, Vec<u8>)> {
            let chosen = rows.iter().filter(|(_, (_, place))| places.contains(place));
            chosen.map(|(key, (value, _))| (key.clone(), value.clone())).collect()
        };
        let runs = [run_of(&of(&[0])), run_of(&of(&[1, 4])), run_of(&of(&[2]))];
        let all: Rows = rows.iter().map(|(key, (value, _))| (full(key), value.clone())).collect();
        let in_table: Rows = of(&[3, 4]).into_iter().map(|(k, v)| (full(&k), v)).collect();
        for bounds in [
            (Bound::Included(low.as_slice()), Bound::Included(high.as_slice())),
            (Bound::Excluded(low.as_slice()), Bound::Unbounded),
            (Bound::Unbounded, Bound::Excluded(high.as_slice())),
        ] {
            let expected: Vec<_> = all.range::<[u8], _>(bounds).collect();
            let table: Rows =
                in_table.range::<[u8], _>(bounds).map(|(k, v)| (k.clone(), v.clone())).collect();
            let in_runs = RunRows::new(&runs, Some(TABLE), |run, of| run.rows_in(of, bounds));
            let mut merged = Merged::new(table_rows(&table).into_iter(), in_runs);
            let (mut front, mut back) = (Vec::new(), Vec::new());
            for turn in turns.iter().chain(std::iter::repeat(&true)) {
                let row = if *turn { merged.next() } else { merged.next_back() };
                let Some(row) = row else { break };
                let (key, value) = row.unwrap();
                let side = if *turn { &mut front } else { &mut back };
                side.push((key.to_vec(), value.to_vec()));
            }
            front.extend(back.into_iter().rev());
            let expected: Vec<_> = expected.into_iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            prop_assert_eq!(front, expected);
        }
        let with_prefix = RunRows::new(&runs, Some(TABLE), |run, of| run.rows_with_prefix(of, &low));
        let empty = Vec::<Result<(Slice, Slice), Error>>::new();
        let found = Merged::new(empty.into_iter(), with_prefix).count();
        let expected = of(&[0, 1, 2, 4]).iter().filter(|(key, _)| full(key).starts_with(&low)).count();
        prop_assert_eq!(found, expected);
        for (key, value) in of(&[0]) {
            prop_assert_eq!(runs[0].get(TABLE, &full(&key)), Some(value.as_slice()));
            prop_assert_eq!(runs[2].get(TABLE, &full(&key)), None);
        }
        let merged: Vec<_> = merged_rows(&runs, TABLE).map(|(key, _)| key.to_vec()).collect();
        let expected: Vec<_> = of(&[0, 1, 2, 4]).into_iter().map(|(key, _)| key).collect();
        prop_assert_eq!(merged, expected);
    }
}
