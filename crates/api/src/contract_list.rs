//! Contracts that the operator lists in CSV files (verified collections, spam): an address a line, which
//! then holds on every chain, or a chain and an address.

use std::path::PathBuf;

use alloy_primitives::Address;
use alloy_primitives::map::HashSet;
use model::chain::{ChainId, ChainTable};

use crate::operator_file::{FileError, OperatorFile, address};

#[derive(Debug, Default)]
pub struct ContractList {
    anywhere: HashSet<Address>,
    on_chain: HashSet<(ChainId, Address)>,
}

impl ContractList {
    /// `what` it lists, for the message about a mistake.
    pub fn read(
        what: &'static str,
        paths: &[PathBuf],
        table: &ChainTable,
    ) -> Result<Self, FileError> {
        let mut list = Self::default();
        for path in paths {
            OperatorFile { what, path }.read(|columns| list.add(columns, table))?;
        }
        Ok(list)
    }

    fn add(&mut self, columns: &[&str], table: &ChainTable) -> Result<(), String> {
        let (first, second) = match columns {
            [first] | [first, ""] => (*first, None),
            [first, second, ..] => (*first, Some(*second)),
            [] => return Ok(()),
        };
        // The first line may name the columns.
        if [first, second.unwrap_or_default()].iter().any(|t| t.eq_ignore_ascii_case("address")) {
            return Ok(());
        }
        match second {
            // A list made for people may go on with names.
            Some(second) if address(first).is_err() => {
                let chain = table.find(first);
                let chain = chain.ok_or_else(|| format!("'{first}' is not a known chain"))?;
                self.on_chain.insert((chain.id, address(second)?));
            }
            _ => {
                self.anywhere.insert(address(first)?);
            }
        }
        Ok(())
    }

    pub fn of_chain(&self, chain: ChainId) -> impl Iterator<Item = Address> {
        let here = self.on_chain.iter().filter(move |(id, _)| *id == chain);
        self.anywhere.iter().copied().chain(here.map(|(_, address)| *address))
    }

    pub fn contains(&self, chain: ChainId, contract: Address) -> bool {
        self.anywhere.contains(&contract) || self.on_chain.contains(&(chain, contract))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<ContractList, FileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verified.csv");
        std::fs::write(&path, content).unwrap();
        ContractList::read("verified collections", &[path], &ChainTable::builtin().unwrap())
    }

    #[test]
    fn an_address_holds_everywhere_and_one_with_a_chain_holds_there() {
        let [apes, cats, dogs] = [0xa9, 0xca, 0xd0].map(Address::repeat_byte);
        let content = format!(
            "chain,address\n# ours\n{apes}\npolygon,{cats:#x}\n0x1, {dogs} ,Dogs\n{dogs},on all,after all\n"
        );
        for (content, dogs_on_polygon) in
            [(content.clone(), true), (content.replace(&format!("{dogs},on all"), "#"), false)]
        {
            let verified = read(&content).unwrap();
            let on = |chain, contract| verified.contains(ChainId(chain), contract);
            assert!(on(1, apes) && on(137, apes));
            assert!(on(137, cats) && !on(1, cats));
            assert!(on(1, dogs));
            assert_eq!(on(137, dogs), dogs_on_polygon);
            assert!(!on(1, Address::ZERO));
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (content, says) in [
            ("address\n0x12\n", "verified.csv, line 2: '0x12' is not an address"),
            ("nowhere,0x12\n", "verified.csv, line 1: 'nowhere' is not a known chain"),
            ("eth,0x12\n", "verified.csv, line 1: '0x12' is not an address"),
        ] {
            let error = read(content).unwrap_err().to_string();
            assert!(
                error.starts_with("verified collections file") && error.contains(says),
                "{error}"
            );
        }
        let table = ChainTable::builtin().unwrap();
        let missing = ContractList::read("verified collections", &["/no/such.csv".into()], &table);
        assert!(missing.unwrap_err().to_string().contains("/no/such.csv"));
    }
}
