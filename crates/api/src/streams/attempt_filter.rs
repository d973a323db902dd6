//! Which attempts are asked for: what the lists of failed and of all attempts have in common.

use model::chain::{ChainId, ChainTable};
use store::StreamId;

use super::{list_params, stream_id};
use crate::cursor::QuestionDigest;
use crate::date;
use crate::error::ApiError;
use crate::params::Query;

const TX_HASH_PATTERN: &str = "0x[0-9A-Fa-f]{64}";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptFilter {
    pub stream: Option<StreamId>,
    pub chains: Vec<ChainId>,
    pub numbers: Vec<u64>,
    pub from_ms: Option<u64>,
    pub to_ms: Option<u64>,
    /// Lower-case, as payloads write it.
    pub transaction_hash: Option<String>,
    /// Only those that failed, or only those that did not.
    pub failed: Option<bool>,
}

impl AttemptFilter {
    pub fn read(query: &Query, table: &ChainTable) -> Result<Self, ApiError> {
        let stream = query.get("streamId").map(|text| stream_id::read("streamId", text));
        let chains = query.list("chainId").into_iter().map(|text| chain(table, text));
        let numbers = query.list("blockNumber").into_iter().map(block_number);
        Ok(AttemptFilter {
            stream: stream.transpose()?,
            chains: chains.collect::<Result<_, _>>()?,
            numbers: numbers.collect::<Result<_, _>>()?,
            from_ms: time(query, "fromTimestamp")?,
            to_ms: time(query, "toTimestamp")?,
            transaction_hash: query.get("transactionHash").map(transaction_hash).transpose()?,
            failed: None,
        })
    }

    /// With the parameter that only the list of all attempts has.
    pub fn read_with_status(query: &Query, table: &ChainTable) -> Result<Self, ApiError> {
        let mut words = Vec::new();
        for text in query.list("deliveryStatus") {
            let failed = [("failed", true), ("success", false)];
            words.push(list_params::one_of("deliveryStatus", text, &failed)?);
        }
        words.sort_unstable();
        words.dedup();
        let failed = if let [only] = words.as_slice() { Some(*only) } else { None };
        Ok(AttemptFilter { failed, ..Self::read(query, table)? })
    }

    /// What a cursor of this list belongs to.
    pub fn question(&self, operation: &str, tenant: &str) -> QuestionDigest {
        let mut question =
            QuestionDigest::builder().field("operation", operation).field("tenant", tenant);
        if let Some(stream) = self.stream {
            question = question.field("stream", stream);
        }
        for chain in &self.chains {
            question = question.number("chain", chain.0);
        }
        for number in &self.numbers {
            question = question.number("block", *number);
        }
        question
            .number_if("from", self.from_ms)
            .number_if("to", self.to_ms)
            .field("transaction", self.transaction_hash.as_deref().unwrap_or_default())
            .number_if("failed", self.failed.map(u64::from))
            .finish()
    }
}

fn chain(table: &ChainTable, text: &str) -> Result<ChainId, ApiError> {
    let found = table.find(text).map(|chain| chain.id);
    found.ok_or_else(|| {
        let why = "is not a known chain; give a hex id such as 0x1";
        ApiError::invalid_param("chainId", text, why)
    })
}

fn block_number(text: &str) -> Result<u64, ApiError> {
    let number = text.parse::<u64>();
    number.map_err(|_| ApiError::invalid_param("blockNumber", text, "invalid integer number"))
}

fn time(query: &Query, name: &str) -> Result<Option<u64>, ApiError> {
    let Some(text) = query.get(name) else { return Ok(None) };
    let parsed = date::parse(text);
    let time = parsed.map_err(|error| ApiError::invalid_param(name, text, error.to_string()))?;
    // Nothing was sent before 1970.
    Ok(Some(u64::try_from(time.0).unwrap_or(0)))
}

fn transaction_hash(text: &str) -> Result<String, ApiError> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        let why = format!("Not match in '{TX_HASH_PATTERN}'");
        return Err(ApiError::invalid_param("transactionHash", text, why));
    }
    Ok(text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0d653a7a-05da-4f4a-8eec-bca8725046cd";

    fn read(pairs: &[(&str, &str)]) -> Result<AttemptFilter, ApiError> {
        AttemptFilter::read_with_status(&Query::of(pairs), &ChainTable::builtin().unwrap())
    }

    #[test]
    fn every_filter_is_read() {
        let hash = format!("0x{}", "Ab".repeat(32));
        let filter = read(&[
            ("streamId", ID),
            ("chainId[]", "0x1"),
            ("chainId[]", "polygon"),
            ("blockNumber[]", "17"),
            ("blockNumber[]", "18"),
            ("fromTimestamp", "1700000000"),
            ("toTimestamp", "1700000000123"),
            ("transactionHash", &hash),
            ("deliveryStatus[]", "failed"),
        ])
        .unwrap();
        let expected = AttemptFilter {
            stream: Some(stream_id::read("", ID).unwrap()),
            chains: vec![ChainId(1), ChainId(137)],
            numbers: vec![17, 18],
            from_ms: Some(1_700_000_000_000),
            to_ms: Some(1_700_000_000_123),
            transaction_hash: Some(hash.to_lowercase()),
            failed: Some(true),
        };
        assert_eq!(filter, expected);
        assert_eq!(read(&[]).unwrap(), AttemptFilter::default());
        let both = read(&[("deliveryStatus", "failed,success")]).unwrap();
        assert_eq!(both.failed, None, "both are all");
    }

    #[test]
    fn wrong_filters_are_refused_by_name() {
        for (name, value, says) in [
            ("streamId", "1", "Not match in"),
            ("chainId[]", "0xdeadbeefdead", "is not a known chain"),
            ("blockNumber[]", "one", "invalid integer number"),
            ("blockNumber", "-1", "invalid integer number"),
            ("fromTimestamp", "yesterday", "is not a date"),
            ("toTimestamp", "31.12.2024", "is not a date"),
            ("transactionHash", "0x12", "Not match in '0x[0-9A-Fa-f]{64}'"),
            ("deliveryStatus[]", "lost", "one of the following; ['failed','success']"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            let named = format!("\"{}\"", name.trim_end_matches("[]"));
            assert_eq!(error.status(), 422, "{name}");
            let body = error.body();
            assert!(body.contains(says) && body.contains(&named), "{body}");
        }
    }

    #[test]
    fn each_filter_makes_another_question() {
        let hash = format!("0x{}", "ab".repeat(32));
        let filters = [
            vec![],
            vec![("streamId", ID)],
            vec![("chainId", "0x1")],
            vec![("blockNumber", "1")],
            vec![("fromTimestamp", "1700000000")],
            vec![("toTimestamp", "1700000000")],
            vec![("transactionHash", hash.as_str())],
            vec![("deliveryStatus", "failed")],
            vec![("deliveryStatus", "success")],
        ];
        let digests: Vec<_> =
            filters.iter().map(|pairs| read(pairs).unwrap().question("GetLogs", "a")).collect();
        for (at, digest) in digests.iter().enumerate() {
            assert!(digests.iter().skip(at + 1).all(|other| other != digest), "{at}");
        }
        assert_ne!(read(&[]).unwrap().question("GetLogs", "b"), digests[0], "another tenant");
        assert_ne!(read(&[]).unwrap().question("GetHistory", "a"), digests[0]);
    }
}
