//! Which chains have a database of their own, noted in the main one: a chain that is suddenly looked for elsewhere would begin
//! a new journal there, by which streams cannot go on.

use model::chain::ChainId;

use super::connection::Connection;
use super::gate::DatabaseId;
use super::numbers::sql;
use super::store::{META, PUT_META, Store};
use crate::Error;

const ALL: &str = "select substr(key, 8) from meta where key like 'placed/%' order by key";
const IS_HERE: &str = "select exists (select from chains where chain = $1 and covered_from <> '{}') \
     or exists (select from readers where chain = $1)";
const HOW_TO_MOVE: &str =
    "a chain is moved by copying everything into new databases (docs/cluster.md)";

fn key(chain: ChainId) -> String {
    format!("placed/{}", chain.0)
}

impl Store {
    /// Notes where a chain is, or holds it against what was noted before. This is the main database.
    pub async fn note_place(
        &self,
        chain: ChainId,
        database: DatabaseId,
        may_change: bool,
    ) -> Result<(), Error> {
        let connection = self.inner.pool.get().await?;
        if let Some(noted) = place(&connection, chain).await? {
            return self.compare(chain, &noted, database);
        }
        let row = connection.first(IS_HERE, &[&sql(chain.0)]).await?;
        if row.is_some_and(|row| row.get(0)) {
            let what = format!("chain {} is in the database of store.url already", chain.0);
            return Err(self.misplaced(what, HOW_TO_MOVE));
        }
        let Some(id) = database.filter(|_| may_change) else { return Ok(()) };
        connection.execute(PUT_META, &[&key(chain), &id.as_slice()]).await?;
        // Another process may have been quicker.
        let noted = place(&connection, chain).await?.unwrap_or_default();
        self.compare(chain, &noted, database)
    }

    fn compare(&self, chain: ChainId, noted: &[u8], database: DatabaseId) -> Result<(), Error> {
        if database.is_some_and(|id| id == *noted) {
            return Ok(());
        }
        let what = format!("chain {} was in another database of its own until now", chain.0);
        Err(self.misplaced(what, HOW_TO_MOVE))
    }

    /// A chain that has a database of its own must not be looked for in this one.
    pub async fn check_places(&self, placed: &[ChainId]) -> Result<(), Error> {
        let rows = self.inner.pool.get().await?.query(ALL, &[]).await?;
        let noted = rows.iter().filter_map(|row| row.get::<_, &str>(0).parse().ok().map(ChainId));
        match noted.into_iter().find(|chain| !placed.contains(chain)) {
            None => Ok(()),
            Some(chain) => {
                let what = format!("chain {} has a database of its own", chain.0);
                Err(self.misplaced(what, "name it in [chains.NAME] store"))
            }
        }
    }

    fn misplaced(&self, what: String, advice: &'static str) -> Error {
        Error::Engine {
            action: "use this database for what is configured",
            path: self.inner.pool.server.label().clone(),
            source: what.into(),
            advice,
            retryable: false,
        }
    }
}

async fn place(connection: &Connection, chain: ChainId) -> Result<Option<Vec<u8>>, Error> {
    let row = connection.first(META, &[&key(chain)]).await?;
    Ok(row.map(|row| row.get(0)))
}
