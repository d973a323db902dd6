//! Makes a run of rows that come in any order.

use super::run::{END_BYTES, FORM, HEADER_BYTES, RunTable};

#[derive(Default)]
pub struct RunBuilder {
    numbers: Option<(u64, u64)>,
    tables: [Rows; 4],
}

/// Rows of one table as they came.
#[derive(Default)]
struct Rows {
    /// Each with the length of its key in front.
    data: Vec<u8>,
    order: Vec<RowAt>,
}

/// Sorting compares the beginnings of keys, which lie here, and looks at the rest only where they are equal.
#[derive(Clone, Copy)]
struct RowAt {
    start_of_key: u64,
    from: u32,
    to: u32,
}

impl RunBuilder {
    pub fn is_empty(&self) -> bool {
        self.numbers.is_none()
    }

    pub fn add_block(&mut self, number: u64) {
        let (low, high) = self.numbers.unwrap_or((number, number));
        self.numbers = Some((low.min(number), high.max(number)));
    }

    /// `key` is without its chain. False where the run is full, or the key too long for one.
    #[must_use]
    pub fn add(&mut self, table: RunTable, key: &[u8], value: &[u8]) -> bool {
        let rows = table.of_mut(&mut self.tables);
        let from = rows.data.len();
        let to = from + 1 + key.len() + value.len();
        let (Ok(key_bytes), Ok(to)) = (u8::try_from(key.len()), u32::try_from(to)) else {
            return false;
        };
        let mut start = [0; 8];
        start.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        rows.order.push(RowAt { start_of_key: u64::from_be_bytes(start), from: from as u32, to });
        rows.data.push(key_bytes);
        rows.data.extend_from_slice(key);
        rows.data.extend_from_slice(value);
        true
    }

    pub fn finish(mut self) -> Vec<u8> {
        let rows_bytes: usize =
            self.tables.iter().map(|rows| rows.data.len() + rows.order.len() * END_BYTES).sum();
        let mut out = Vec::with_capacity(HEADER_BYTES + rows_bytes);
        let (low, high) = self.numbers.unwrap_or_default();
        out.push(FORM);
        out.extend_from_slice(&low.to_be_bytes());
        out.extend_from_slice(&high.to_be_bytes());
        for table in RunTable::ALL {
            let rows = table.of(&self.tables);
            out.extend_from_slice(&(rows.order.len() as u32).to_be_bytes());
            out.extend_from_slice(&(rows.data.len() as u32).to_be_bytes());
        }
        for table in RunTable::ALL {
            table.of_mut(&mut self.tables).write(&mut out);
        }
        out
    }
}

impl Rows {
    fn write(&mut self, out: &mut Vec<u8>) {
        let data = &self.data;
        let row = |at: &RowAt| data.get(at.from as usize..at.to as usize).unwrap_or_default();
        let key = |at: &RowAt| match row(at).split_first() {
            Some((key_bytes, rest)) => rest.get(..usize::from(*key_bytes)).unwrap_or_default(),
            None => &[],
        };
        self.order.sort_unstable_by(|a, b| {
            a.start_of_key.cmp(&b.start_of_key).then_with(|| key(a).cmp(key(b)))
        });
        let mut end = 0;
        for at in &self.order {
            end += at.to - at.from;
            out.extend_from_slice(&end.to_be_bytes());
        }
        for at in &self.order {
            out.extend_from_slice(row(at));
        }
    }
}
