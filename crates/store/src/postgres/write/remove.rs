//! Removes what blocks wrote, a table at a time.

use super::ChainWrite;
use super::counting::WalletRow;
use crate::Error;
use crate::block::VerifiedBlock;
use crate::postgres::numbers::sql;
use crate::postgres::prepare::{PgBlock, prepare};
use crate::postgres::read::{BlockParts, Param, read_blocks};

const WALLETS: &str = "delete from wallet_transactions w using \
     unnest($2::bytea[], $3::boolean[], $4::bigint[], $5::integer[]) as p (address, direct, number, tx_index) \
     where w.chain = $1 and w.address = p.address and w.direct = p.direct and w.number = p.number \
     and w.tx_index = p.tx_index";
const BY_BLOCK: [&str; 4] = [
    "delete from blocks where chain = $1 and number = any($2)",
    "delete from transactions where chain = $1 and number = any($2)",
    "delete from logs where chain = $1 and number = any($2)",
    "delete from internal_transactions where chain = $1 and number = any($2)",
];

impl ChainWrite<'_> {
    /// Rows of stored blocks, but for what was found in them; gives the rows of wallets that went.
    pub async fn remove_blocks(&self, numbers: &[u64]) -> Result<Vec<WalletRow>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        // Who took part in them is not listed by block: it follows from the block.
        let mut gone = Vec::new();
        for some in numbers.chunks(64) {
            let parts = BlockParts::Everything;
            for (block, proof) in read_blocks(&self.connection, self.chain, some, parts).await? {
                let facts = Default::default();
                let stored = prepare(self.chain, VerifiedBlock { block, proof, facts });
                gone.extend(WalletRow::of_block(&stored).map(WalletRow::gone));
            }
        }
        self.remove_wallet_rows(&gone).await?;
        let numbers: Vec<i64> = numbers.iter().map(|number| sql(*number)).collect();
        let params: [Param; 2] = [&self.id(), &numbers];
        for statement in BY_BLOCK {
            self.connection.execute(statement, &params).await?;
        }
        Ok(gone)
    }

    async fn remove_wallet_rows(&self, rows: &[WalletRow]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let addresses: Vec<&[u8]> = rows.iter().map(|row| row.address.as_slice()).collect();
        let direct: Vec<bool> = rows.iter().map(|row| row.direct).collect();
        let numbers: Vec<i64> = rows.iter().map(|row| sql(row.number)).collect();
        let indexes: Vec<i32> = rows.iter().map(|row| row.index as i32).collect();
        let params: [Param; 5] = [&self.id(), &addresses, &direct, &numbers, &indexes];
        self.connection.execute(WALLETS, &params).await.map(|_| ())
    }
}

impl WalletRow {
    pub fn of_block(block: &PgBlock) -> impl Iterator<Item = WalletRow> + use<'_> {
        let number = block.head.number;
        block.wallets.iter().map(move |party| WalletRow {
            address: party.address,
            number,
            index: party.index,
            direct: party.direct,
            sign: 1,
        })
    }

    fn gone(self) -> Self {
        WalletRow { sign: -1, ..self }
    }
}
