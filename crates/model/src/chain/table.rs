//! All chains that are known, found by id or by any of their names.
//!
//! In: the built-in files and the operator's chains. Out: `&Chain`. Two chains never share an id or
//! a name: `insert` is the only way in and checks both.

use std::collections::BTreeMap;

use super::definition::Chain;
use super::id::ChainId;
use super::operation::Operation;
use super::private::PrivateChain;
use super::{builtin, name};

/// `linea` and `linea sepolia` stand with the same id in the interface's table.
const LINEA: ChainId = ChainId(0xe708);
const LINEA_SEPOLIA: ChainId = ChainId(0xe705);

#[derive(Clone, Debug, Default)]
pub struct ChainTable {
    chains: BTreeMap<ChainId, Chain>,
    /// Normal form of every spelling.
    names: BTreeMap<String, ChainId>,
}

impl ChainTable {
    /// The chains of the interface. Fails only if a compiled-in file is broken, which a test rules
    /// out.
    pub fn builtin() -> Result<Self, Error> {
        let mut table = Self::default();
        for (slug, text) in builtin::FILES {
            let chain = toml::from_str(text)
                .map_err(|source| Error::BrokenFile { slug, source: Box::new(source) })?;
            table.insert(chain)?;
        }
        Ok(table)
    }

    /// Adds a chain of the operator's own. Under the id and one of the names of a chain that is
    /// there already, it changes that chain's settings; later ones win.
    pub fn with_private(mut self, private: PrivateChain) -> Result<Self, Error> {
        if private.id == ChainId(0) {
            return Err(Error::ZeroId { name: private.name });
        }
        for spelling in std::iter::once(&private.name).chain(&private.names) {
            if !name::is_usable(spelling) {
                return Err(Error::UnusableName { id: private.id, name: spelling.clone() });
            }
        }
        let base = match self.chains.get(&private.id) {
            None => private.defaults(),
            Some(known) if known.goes_by(&private.name) => known.clone(),
            Some(known) => {
                let taken_by = known.slug.clone();
                return Err(Error::IdTaken { id: known.id, name: private.name, taken_by });
            }
        };
        self.insert(private.over(base))?;
        Ok(self)
    }

    /// A name (any case; space, dash and underscore are the same), a hex id (any case, leading
    /// zeros) or a decimal id.
    pub fn find(&self, text: &str) -> Option<&Chain> {
        match name::number(text) {
            Some(id) => self.get(id),
            None => self.find_name(text),
        }
    }

    /// As [`find`](Self::find), for one operation. The chain found may not offer it: ask
    /// [`Chain::offers`], so that "unknown" and "not offered" stay two answers.
    ///
    /// 0xe705 means linea where linea sepolia is not offered: the interface prints it so for the
    /// token price.
    pub fn find_for(&self, operation: Operation, text: &str) -> Option<&Chain> {
        let found = self.find(text)?;
        let by_printed_id = operation == Operation::TokenPrice
            && found.id == LINEA_SEPOLIA
            && name::number(text).is_some();
        if by_printed_id && !found.offers(operation) {
            return self.get(LINEA).or(Some(found));
        }
        Some(found)
    }

    pub fn get(&self, id: ChainId) -> Option<&Chain> {
        self.chains.get(&id)
    }

    /// In order of id.
    pub fn iter(&self) -> impl Iterator<Item = &Chain> {
        self.chains.values()
    }

    fn find_name(&self, text: &str) -> Option<&Chain> {
        self.names.get(&name::normal(text)).and_then(|id| self.get(*id))
    }

    /// Replaces a chain of the same id; its names must not be another's.
    fn insert(&mut self, chain: Chain) -> Result<(), Error> {
        for spelling in chain.spellings() {
            match self.find_name(spelling) {
                Some(other) if other.id != chain.id => {
                    let (name, taken_by) = (spelling.to_owned(), other.slug.clone());
                    return Err(Error::NameTaken { id: chain.id, name, taken_by });
                }
                _ => {}
            }
        }
        self.names.extend(chain.spellings().map(|spelling| (name::normal(spelling), chain.id)));
        self.chains.insert(chain.id, chain);
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read the built-in chain file {slug}.toml")]
    BrokenFile {
        slug: &'static str,
        #[source]
        source: Box<toml::de::Error>,
    },
    #[error("chain `{name}` has id 0; every chain needs its own EIP-155 id")]
    ZeroId { name: String },
    #[error(
        "chain id {id} cannot be named `{name}`: a name has letters or digits, may have dots, \
         spaces, dashes and underscores, and is not a number alone"
    )]
    UnusableName { id: ChainId, name: String },
    #[error(
        "cannot add chain `{name}`: id {id} is `{taken_by}` already; choose another id, or the \
         name `{taken_by}` to change its settings"
    )]
    IdTaken { id: ChainId, name: String, taken_by: String },
    #[error("cannot name chain id {id} `{name}`: that name means `{taken_by}` already")]
    NameTaken { id: ChainId, name: String, taken_by: String },
}
