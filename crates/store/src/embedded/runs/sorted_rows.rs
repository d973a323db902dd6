//! Rows of one table, sorted by key, in memory.

/// The first bytes of a key as a number. Most keys are told apart by it, without a look at the keys themselves.
pub fn start_of_key(key: &[u8]) -> u64 {
    let mut start = [0; 8];
    start.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(start)
}

#[derive(Default)]
pub struct SortedRows {
    /// Each with the length of its key in front.
    data: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<u32>,
}

impl SortedRows {
    pub fn with_capacity(bytes: usize, rows: usize) -> Self {
        SortedRows { data: Vec::with_capacity(bytes), ends: Vec::with_capacity(rows) }
    }

    /// `row` has the length of its key in front, and comes after all others.
    pub fn push_packed(&mut self, row: &[u8]) {
        self.data.extend_from_slice(row);
        self.ends.push(self.data.len() as u32);
    }

    /// The same of a key that `put_key` writes.
    pub fn push_with(&mut self, put_key: impl FnOnce(&mut Vec<u8>), value: &[u8]) {
        let from = self.data.len();
        self.data.push(0);
        put_key(&mut self.data);
        let key_bytes = self.data.len() - from - 1;
        debug_assert!(key_bytes <= usize::from(u8::MAX));
        if let Some(length) = self.data.get_mut(from) {
            *length = key_bytes as u8;
        }
        self.data.extend_from_slice(value);
        self.ends.push(self.data.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn bytes(&self) -> u64 {
        (self.data.len() + 4 * self.ends.len()) as u64
    }

    /// Key and value; both are empty behind the last row.
    pub fn row(&self, index: usize) -> (&[u8], &[u8]) {
        let row = || {
            let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
            let row = self.data.get(*start as usize..*self.ends.get(index)? as usize)?;
            let (key_bytes, row) = row.split_first()?;
            row.split_at_checked(usize::from(*key_bytes))
        };
        row().unwrap_or_default()
    }

    /// `is_past` holds for no key, for all, or from some key on.
    pub fn first_where(&self, is_past: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_past(self.row(middle).0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}
