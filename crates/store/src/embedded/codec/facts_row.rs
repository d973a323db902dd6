//! What a block meant: its trades, and the pools whose state it changed.

use model::facts::PoolId;

use super::bytes::take_counted;
use super::trade::{pack_trades, unpack_trades};
use super::value::unpack_list;
use super::varint::put_varint;
use crate::embedded::facts::FactsRow;

impl FactsRow {
    pub fn pack(&self) -> Vec<u8> {
        let mut out =
            Vec::with_capacity(self.trades.len() * 128 + self.changed_pools.len() * 21 + 2);
        pack_trades(&self.trades, &mut out);
        put_varint(&mut out, self.changed_pools.len() as u64);
        for id in &self.changed_pools {
            out.push(id.as_slice().len() as u8);
            out.extend_from_slice(id.as_slice());
        }
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let trades = unpack_trades(&mut input)?;
        let changed_pools =
            unpack_list(&mut input, |input| PoolId::from_slice(take_counted(input)?))?;
        Some(FactsRow { trades, changed_pools })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = FactsRow::unpack(&bytes);
        }
    }

    #[test]
    fn pools_of_both_kinds_come_back() {
        let changed_pools = vec![PoolId::Contract([1; 20].into()), PoolId::V4([2; 32].into())];
        let row = FactsRow { trades: Vec::new(), changed_pools };
        assert_eq!(FactsRow::unpack(&row.pack()), Some(row));
    }
}
