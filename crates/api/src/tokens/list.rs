//! Lists of tokens from the operator, in the JSON form that Uniswap began and wallets share. What a
//! list says wins over what a contract says of itself.

use std::path::{Path, PathBuf};

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::chain::ChainId;
use model::token::plain_text;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: Option<String>,
    pub symbol: Option<String>,
    pub decimals: u8,
    pub logo: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("token list {path}: {why}")]
pub struct TokenListError {
    path: PathBuf,
    why: String,
}

/// Of a token named in several lists, the last one counts.
#[derive(Debug, Default)]
pub struct TokenLists(HashMap<(ChainId, Address), Listed>);

#[derive(Deserialize)]
struct File {
    tokens: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    chain_id: u64,
    address: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    symbol: String,
    decimals: u8,
    #[serde(rename = "logoURI", default)]
    logo: String,
}

/// Longer ones are no address of a picture.
const LOGO_BYTES_MAX: usize = 2048;

impl TokenLists {
    pub fn read(paths: &[PathBuf]) -> Result<Self, TokenListError> {
        let mut lists = TokenLists::default();
        for path in paths {
            lists.read_file(path)?;
        }
        Ok(lists)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), TokenListError> {
        let error = |why: String| TokenListError { path: path.to_owned(), why };
        let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
        let file: File = serde_json::from_str(&text)
            .map_err(|e| error(format!("it is not a token list (an object with `tokens`): {e}")))?;
        for (n, value) in file.tokens.into_iter().enumerate() {
            let symbol = value.get("symbol").and_then(|it| it.as_str()).unwrap_or("?").to_owned();
            let wrong = |why: String| error(format!("token {n} ({symbol}): {why}"));
            let entry: Entry = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
            let address = entry.address.parse::<Address>();
            let address =
                address.map_err(|_| wrong(format!("'{}' is not an address", entry.address)))?;
            let listed = Listed {
                name: plain_text(&entry.name),
                symbol: plain_text(&entry.symbol),
                decimals: entry.decimals,
                logo: Some(entry.logo).filter(|it| !it.is_empty() && it.len() <= LOGO_BYTES_MAX),
            };
            self.0.insert((ChainId(entry.chain_id), address), listed);
        }
        Ok(())
    }

    pub fn get(&self, chain: ChainId, token: Address) -> Option<&Listed> {
        self.0.get(&(chain, token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<TokenLists, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.json");
        std::fs::write(&path, content).unwrap();
        TokenLists::read(&[path]).map_err(|e| e.to_string())
    }

    #[test]
    fn a_list_in_the_shared_form_is_read() {
        let lists = read(
            r#"{"name":"Ours","timestamp":"2024-01-01T00:00:00Z","version":{"major":1,"minor":0,"patch":0},
                "tokens":[{"chainId":1,"address":"0x6B175474E89094C44Da98b954EedeAC495271d0F","name":"Dai","symbol":"DAI",
                "decimals":18,"logoURI":"https://pictures.example/dai.png","tags":["stablecoin"],"extensions":{}}]}"#,
        )
        .unwrap();
        let dai = "0x6b175474e89094c44da98b954eedeac495271d0f".parse().unwrap();
        let listed = lists.get(ChainId(1), dai).unwrap();
        assert_eq!((listed.symbol.as_deref(), listed.decimals), (Some("DAI"), 18));
        assert_eq!(listed.logo.as_deref(), Some("https://pictures.example/dai.png"));
        assert_eq!(lists.get(ChainId(137), dai), None);
    }

    #[test]
    fn mistakes_are_named_with_their_token() {
        let token = |fields: &str| format!(r#"{{"tokens":[{{"symbol":"ABC",{fields}}}]}}"#);
        for (content, says) in [
            ("[]".to_owned(), "it is not a token list"),
            (
                token(r#""chainId":1,"address":"0x12","decimals":1"#),
                "token 0 (ABC): '0x12' is not an address",
            ),
            (token(r#""chainId":1,"address":"0x12""#), "token 0 (ABC): missing field `decimals`"),
            (token(r#""chainId":1,"address":"0x12","decimals":300"#), "300"),
        ] {
            let error = read(&content).unwrap_err();
            assert!(error.contains(says) && error.contains("list.json"), "{error}");
        }
        assert!(TokenLists::read(&["/no/such.json".into()]).is_err());
    }
}
