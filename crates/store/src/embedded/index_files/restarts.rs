//! Where reading of a part can begin anew: a row in its middle is found without all rows before it.

use bytes::Bytes;

use super::rows_block::RowsReader;
use super::rows_key::RowsKey;

/// So many rows lie between two of them.
const ROWS_APART: u64 = 32;

pub struct Restarts {
    points: Vec<Restart>,
    /// Of the whole part.
    rows: u64,
}

/// A reader that has just read a row.
struct Restart {
    reader: RowsReader<Bytes>,
    /// That row, and those before it.
    rows: u64,
}

impl Restarts {
    /// None where the bytes are not what was written.
    pub fn of(mut reader: RowsReader<Bytes>) -> Option<Self> {
        let (mut points, mut rows) = (Vec::new(), 0);
        while !reader.is_done() {
            reader.read()?;
            rows += 1;
            if rows % ROWS_APART == 0 {
                points.push(Restart { reader: reader.clone(), rows });
            }
        }
        Some(Restarts { points, rows })
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The last reader before a key, and how many rows it is past; none where the part is to be read from its beginning.
    pub fn before(&self, key: &RowsKey) -> Option<(RowsReader<Bytes>, u64)> {
        let is_before = |point: &Restart| key.compare(&point.reader).is_lt();
        let at = self.points.partition_point(is_before).checked_sub(1)?;
        self.points.get(at).map(|point| (point.reader.clone(), point.rows))
    }
}
