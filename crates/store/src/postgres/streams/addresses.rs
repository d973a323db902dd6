//! The addresses that a stream watches.

use std::collections::BTreeSet;

use alloy_primitives::Address;

use super::queues::Queues;
use crate::Error;
use crate::postgres::connection::Param;
use crate::postgres::numbers::sql_limit;
use crate::postgres::read::address;
use crate::postgres::store::Store;
use crate::streams::StreamId;

const REMOVE: &str = "delete from stream_addresses where stream = $1 and address = any($2)";
pub const ADD: &str = "insert into stream_addresses (stream, address) select $1, * from unnest($2::bytea[]) \
     on conflict do nothing";
const PAGE: &str = "select a.address from stream_addresses a join stream_queues q on q.stream = a.stream \
     where a.stream = $1 and not q.is_removed and ($2::bytea is null or a.address > $2) order by a.address limit $3";

impl Store {
    pub async fn change_stream_addresses(
        &self,
        stream: StreamId,
        add: &[Address],
        remove: &[Address],
    ) -> Result<u64, Error> {
        let mut connection = self.begin().await?;
        let mut queues = Queues::lock(&connection, [stream]).await?;
        let Some(row) = queues.live(stream) else { return Ok(0) };
        let add: BTreeSet<&Address> = add.iter().collect();
        let remove: BTreeSet<&Address> = remove.iter().filter(|it| !add.contains(it)).collect();
        let bytes = |set: BTreeSet<&Address>| set.iter().map(|it| it.to_vec()).collect::<Vec<_>>();
        let (add, remove) = (bytes(add), bytes(remove));
        let id = stream.as_slice();
        let removed = connection.execute(REMOVE, &[&id, &remove]).await?;
        let added = connection.execute(ADD, &[&id, &add]).await?;
        row.addresses = row.addresses.saturating_sub(removed) + added;
        let count = row.addresses;
        queues.write(&connection).await?;
        connection.commit().await?;
        Ok(count)
    }

    pub async fn stream_addresses(
        &self,
        stream: StreamId,
        after: Option<Address>,
        limit: usize,
    ) -> Result<Vec<Address>, Error> {
        let after = after.map(|address| address.to_vec());
        let params: [Param; 3] = [&stream.as_slice(), &after, &sql_limit(limit)];
        let rows = self.inner.pool.get().await?.query(PAGE, &params).await?;
        Ok(rows.iter().map(|row| address(row.get(0))).collect())
    }
}
