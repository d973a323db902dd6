//! What tokens call themselves, as it was learned from a node. Not part of any block: it can be asked
//! for again at any time, so losing it costs one question.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::token::Token;

use crate::Error;
use crate::embedded::codec::Packed;
use crate::embedded::engine::Durability;
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::read::View;

impl Store {
    pub fn put_token(&self, chain: ChainId, address: Address, token: &Token) -> Result<(), Error> {
        let mut row = Vec::with_capacity(64);
        token.pack(&mut row);
        let table = self.inner.database()?.tables.tokens.clone();
        let put = self.put(&table, &keys::token(chain, address), Some(row), Durability::Later);
        // Who asked for it has it already.
        put.or_else(|error| if error.is_retryable() { Ok(()) } else { Err(error) })
    }
}

impl View {
    pub fn token(&self, chain: ChainId, address: Address) -> Result<Option<Token>, Error> {
        match self.snapshot.get(&self.tables.tokens, keys::token(chain, address))? {
            Some(row) => {
                let token = Token::unpack(&mut row.as_ref());
                token.map(Some).ok_or(Error::Broken { what: "token" })
            }
            None => Ok(None),
        }
    }

    pub fn tokens(&self, chain: ChainId) -> Result<Vec<(Address, Token)>, Error> {
        let mut found = Vec::new();
        for item in self.snapshot.prefix(&self.tables.tokens, chain.0.to_be_bytes()) {
            let (key, row) = item.into_inner()?;
            let address = key.get(8..).and_then(|bytes| Address::try_from(bytes).ok());
            let token = Token::unpack(&mut row.as_ref());
            found.push(address.zip(token).ok_or(Error::Broken { what: "token" })?);
        }
        Ok(found)
    }
}
