//! Rows of API keys.

use tokio_postgres::Row;

use super::announce::note_change;
use super::connection::Param;
use super::numbers::{sql, u64_at};
use super::store::Store;
use crate::Error;
use crate::api_key::{ApiKey, MethodRules, Role};
use crate::shared::Shared;

const BROKEN: Error = Error::Broken { what: "API key" };

const ALL: &str =
    "select hash, id, tenant, name, role, created_at, units_per_second, allow, deny from api_keys";
const PUT: &str = "insert into api_keys (hash, id, tenant, name, role, created_at, units_per_second, allow, deny) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (hash) do update set id = excluded.id, \
     tenant = excluded.tenant, name = excluded.name, role = excluded.role, created_at = excluded.created_at, \
     units_per_second = excluded.units_per_second, allow = excluded.allow, deny = excluded.deny";
const REMOVE: &str = "delete from api_keys where hash = $1";

fn read(row: &Row) -> Result<ApiKey, Error> {
    let units: Option<i64> = row.get(6);
    Ok(ApiKey {
        hash: row.get::<_, &[u8]>(0).try_into().map_err(|_| BROKEN)?,
        id: row.get(1),
        tenant: row.get(2),
        name: row.get(3),
        role: if row.get::<_, &str>(4) == "admin" { Role::Admin } else { Role::Tenant },
        created_at: u64_at(row, 5),
        units_per_second: units.map(|it| u32::try_from(it).map_err(|_| BROKEN)).transpose()?,
        methods: MethodRules { allow: row.get(7), deny: row.get(8) },
    })
}

impl Store {
    pub async fn api_keys(&self) -> Result<Vec<ApiKey>, Error> {
        let connection = self.inner.pool.get().await?;
        let rows = connection.query(ALL, &[]).await?;
        let mut keys = rows.iter().map(read).collect::<Result<Vec<ApiKey>, Error>>()?;
        keys.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(keys)
    }

    pub async fn put_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        let role = if key.role == Role::Admin { "admin" } else { "tenant" };
        let (hash, created_at) = (key.hash.as_slice(), sql(key.created_at));
        let units = key.units_per_second.map(i64::from);
        let MethodRules { allow, deny } = &key.methods;
        let params: [Param; 9] =
            [&hash, &key.id, &key.tenant, &key.name, &role, &created_at, &units, allow, deny];
        let mut connection = self.inner.begin().await?;
        connection.execute(PUT, &params).await?;
        note_change(&connection, Shared::Keys).await?;
        connection.commit().await
    }

    /// The key that is gone now; none where there was no such id.
    pub async fn remove_api_key(&self, id: &str) -> Result<Option<ApiKey>, Error> {
        let known = self.api_keys().await?.into_iter().find(|key| key.id == id);
        let Some(key) = known else { return Ok(None) };
        let mut connection = self.inner.begin().await?;
        let removed = connection.execute(REMOVE, &[&key.hash.as_slice()]).await?;
        note_change(&connection, Shared::Keys).await?;
        connection.commit().await?;
        Ok((removed > 0).then_some(key))
    }
}
