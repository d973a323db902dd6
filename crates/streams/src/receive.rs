//! What a receiver can prove of what it got: who signed it, that nothing is missing, that nothing was changed.
//!
//! In: requests as they came. Out: what each says and what is wrong with it, and which numbers are still missing.
//! Pure; `headwater listen` and tests are its users.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use alloy_primitives::B256;
use serde::Deserialize;
use serde::de::IgnoredAny;
use store::delivery_digest;

use crate::payload::with_retries;
use crate::signature::{standard_signature, x_signature};

/// As Standard Webhooks advise.
const CLOCK_DIFFERENCE_S_MAX: u64 = 5 * 60;

/// One request: its headers by lower-case name, its body, and when it came.
pub struct ReceivedRequest<'a> {
    pub header: &'a dyn Fn(&str) -> Option<String>,
    pub body: &'a [u8],
    pub now_s: u64,
}

/// What a body says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    pub stream_id: String,
    pub chain_id: String,
    pub tag: String,
    pub confirmed: bool,
    pub retracted: bool,
    pub retries: u32,
    pub block: SummaryBlock,
    #[serde(deserialize_with = "length")]
    pub txs: usize,
    #[serde(deserialize_with = "length")]
    pub logs: usize,
    #[serde(deserialize_with = "length")]
    pub txs_internal: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SummaryBlock {
    pub number: String,
    pub hash: String,
}

fn length<'de, D: serde::Deserializer<'de>>(input: D) -> Result<usize, D::Error> {
    Ok(Vec::<IgnoredAny>::deserialize(input)?.len())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    pub summary: Summary,
    /// None for what has no number: test calls, blocks that somebody asked for.
    pub sequence: Option<u64>,
    /// It was received before.
    pub is_repeated: bool,
    /// Empty: all that could be checked holds.
    pub problems: Vec<String>,
    /// Numbers that are missing now, below the highest that came.
    pub holes: Vec<RangeInclusive<u64>>,
}

/// Remembers of each stream which numbers came, as ranges: as much as there are holes.
#[derive(Debug, Default)]
pub struct ReceiverLog {
    /// Without one, signatures are not checked.
    secret: Option<String>,
    streams: HashMap<String, Ranges>,
}

/// By its first number. Neighbouring ranges are one.
type Ranges = BTreeMap<u64, Range>;

#[derive(Clone, Copy, Debug)]
struct Range {
    last: u64,
    /// What the first says of the one below.
    previous_digest: B256,
    last_digest: B256,
}

impl ReceiverLog {
    pub fn new(secret: Option<String>) -> Self {
        ReceiverLog { secret, streams: HashMap::new() }
    }

    pub fn take(&mut self, request: &ReceivedRequest<'_>) -> Reception {
        let mut reception = Reception::default();
        self.check_signatures(request, &mut reception.problems);
        match serde_json::from_slice(request.body) {
            Ok(summary) => reception.summary = summary,
            Err(error) => {
                reception.problems.push(format!("the body is not a payload: {error}"));
                return reception;
            }
        }
        let header = request.header;
        let Some(sequence) = header("x-sequence") else {
            return reception;
        };
        let digests = (digest(header, "x-previous-digest"), digest(header, "x-digest"));
        let (Ok(seq), (Some(previous), Some(digest))) = (sequence.parse::<u64>(), digests) else {
            reception
                .problems
                .push("x-sequence, x-digest or x-previous-digest cannot be read".into());
            return reception;
        };
        reception.sequence = Some(seq);
        if delivery_digest(previous, seq, &with_retries(request.body, 0)) != digest {
            reception.problems.push(format!("x-digest of number {seq} does not fit its body"));
            return reception;
        }
        let ranges = self.streams.entry(reception.summary.stream_id.clone()).or_default();
        reception.is_repeated = contains(ranges, seq);
        let came = Range { last: seq, previous_digest: previous, last_digest: digest };
        if !reception.is_repeated {
            link(ranges, seq, came, &mut reception.problems);
        }
        reception.holes = holes(ranges);
        reception
    }

    /// Which numbers of a stream came.
    pub fn received(&self, stream_id: &str) -> Vec<RangeInclusive<u64>> {
        let ranges = self.streams.get(stream_id).into_iter().flatten();
        ranges.map(|(first, range)| *first..=range.last).collect()
    }

    pub fn holes(&self, stream_id: &str) -> Vec<RangeInclusive<u64>> {
        self.streams.get(stream_id).map(holes).unwrap_or_default()
    }

    fn check_signatures(&self, request: &ReceivedRequest<'_>, problems: &mut Vec<String>) {
        let Some(secret) = &self.secret else {
            return;
        };
        let text = |name: &str| (request.header)(name).unwrap_or_default();
        if text("x-signature") != x_signature(request.body, secret) {
            problems.push("x-signature is not by this secret".into());
        }
        let timestamp = text("webhook-timestamp").parse::<u64>().unwrap_or(0);
        let expected = standard_signature(secret, &text("webhook-id"), timestamp, request.body);
        if !text("webhook-signature").split(' ').any(|signature| signature == expected) {
            problems.push("webhook-signature is not by this secret".into());
        } else if timestamp.abs_diff(request.now_s) > CLOCK_DIFFERENCE_S_MAX {
            problems.push(format!(
                "webhook-timestamp {timestamp} is too far from now, {}",
                request.now_s
            ));
        }
    }
}

fn digest(header: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<B256> {
    header(name)?.parse().ok()
}

fn contains(ranges: &Ranges, seq: u64) -> bool {
    ranges.range(..=seq).next_back().is_some_and(|(_, range)| range.last >= seq)
}

/// Joins what came with its neighbours, if their digests meet.
fn link(ranges: &mut Ranges, seq: u64, mut came: Range, problems: &mut Vec<String>) {
    let mut first = seq;
    let below = ranges.range(..seq).next_back().map(|(first, range)| (*first, *range));
    if let Some((start, range)) = below.filter(|(_, range)| range.last + 1 == seq) {
        if range.last_digest == came.previous_digest {
            first = start;
            came.previous_digest = range.previous_digest;
        } else {
            problems.push(format!(
                "x-previous-digest of number {seq} is not the digest of {}",
                range.last
            ));
        }
    } else if seq == 1 && came.previous_digest != B256::ZERO {
        problems.push("x-previous-digest of number 1 is not zero".into());
    }
    if let Some(range) = ranges.get(&(seq + 1)).copied() {
        if range.previous_digest == came.last_digest {
            ranges.remove(&(seq + 1));
            (came.last, came.last_digest) = (range.last, range.last_digest);
        } else {
            problems.push(format!(
                "x-previous-digest of number {} is not the digest of {seq}",
                seq + 1
            ));
        }
    }
    ranges.insert(first, came);
}

fn holes(ranges: &Ranges) -> Vec<RangeInclusive<u64>> {
    let pairs = ranges.values().zip(ranges.keys().skip(1));
    pairs
        .filter(|(below, next)| below.last + 1 < **next)
        .map(|(below, next)| below.last + 1..=next - 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sent {
        body: String,
        headers: HashMap<&'static str, String>,
    }

    /// A stream's deliveries, chained as the store chains them.
    fn sent(count: u64) -> Vec<Sent> {
        let mut previous = B256::ZERO;
        let one = |seq: u64| {
            let body = format!(
                r#"{{"confirmed":true,"chainId":"0x1","streamId":"s","tag":"t","retries":0,"block":{{"number":"{seq}"}},"logs":[{{}},{{}}],"txs":[{{}}]}}"#
            );
            let digest = delivery_digest(previous, seq, body.as_bytes());
            let headers = [
                ("x-sequence", seq.to_string()),
                ("x-digest", format!("{digest:#x}")),
                ("x-previous-digest", format!("{previous:#x}")),
                ("x-signature", x_signature(body.as_bytes(), "secret")),
                ("webhook-id", "id".to_owned()),
                ("webhook-timestamp", "1000".to_owned()),
                ("webhook-signature", standard_signature("secret", "id", 1000, body.as_bytes())),
            ];
            previous = digest;
            Sent { body, headers: headers.into() }
        };
        (1..=count).map(one).collect()
    }

    fn take(log: &mut ReceiverLog, sent: &Sent) -> Reception {
        let header = |name: &str| sent.headers.get(name).cloned();
        log.take(&ReceivedRequest { header: &header, body: sent.body.as_bytes(), now_s: 1010 })
    }

    #[test]
    fn holes_are_shown_until_they_are_filled_in_whatever_order() {
        let sent = sent(6);
        let mut log = ReceiverLog::new(Some("secret".into()));
        let first = take(&mut log, &sent[0]);
        assert_eq!((first.sequence, first.problems.len(), first.summary.logs), (Some(1), 0, 2));
        assert_eq!(take(&mut log, &sent[3]).holes, [2..=3]);
        assert_eq!(take(&mut log, &sent[5]).holes, [2..=3, 5..=5]);
        assert_eq!(take(&mut log, &sent[2]).holes, [2..=2, 5..=5]);
        assert_eq!(take(&mut log, &sent[4]).holes, [2..=2]);
        assert!(take(&mut log, &sent[4]).is_repeated);
        let last = take(&mut log, &sent[1]);
        assert_eq!((last.holes, last.problems), (vec![], vec![]));
        assert_eq!(log.received("s"), [1..=6]);
    }

    #[test]
    fn a_retry_has_another_body_and_the_same_digest() {
        let mut sent = sent(1).remove(0);
        sent.body = sent.body.replace(r#""retries":0"#, r#""retries":3"#);
        sent.headers.insert("x-signature", x_signature(sent.body.as_bytes(), "secret"));
        let signature = standard_signature("secret", "id", 1000, sent.body.as_bytes());
        sent.headers.insert("webhook-signature", format!("v1,old {signature}"));
        let reception = take(&mut ReceiverLog::new(Some("secret".into())), &sent);
        assert_eq!((reception.problems, reception.summary.retries), (vec![], 3));
    }

    #[test]
    fn what_was_changed_forged_or_cut_out_is_noticed() {
        let says = |change: &dyn Fn(&mut Vec<Sent>)| {
            let mut sent = sent(3);
            change(&mut sent);
            let mut log = ReceiverLog::new(Some("secret".into()));
            let problems = sent.iter().flat_map(|sent| take(&mut log, sent).problems);
            problems.collect::<Vec<_>>().join("; ")
        };
        assert_eq!(says(&|_| {}), "");
        let body = says(&|sent| sent[1].body = sent[1].body.replace("logs", "tags"));
        for part in ["x-signature is not", "webhook-signature is not", "does not fit its body"] {
            assert!(body.contains(part), "{body}");
        }
        // Another history under the same numbers: each digest fits its body, but they do not meet.
        let other = says(&|sent| {
            let previous = B256::repeat_byte(1);
            let digest = delivery_digest(previous, 2, sent[1].body.as_bytes());
            sent[1].headers.insert("x-previous-digest", format!("{previous:#x}"));
            sent[1].headers.insert("x-digest", format!("{digest:#x}"));
        });
        assert!(other.contains("of number 2 is not the digest of 1"), "{other}");
        assert!(other.contains("of number 3 is not the digest of 2"), "{other}");
        let late = says(&|sent| {
            sent[0].headers.insert("webhook-timestamp", "1".into());
            let signature = standard_signature("secret", "id", 1, sent[0].body.as_bytes());
            sent[0].headers.insert("webhook-signature", signature);
        });
        assert!(late.contains("too far from now"), "{late}");
        let unreadable = says(&|sent| sent[0].body = "no JSON".into());
        assert!(unreadable.contains("not a payload"), "{unreadable}");
        let number = says(&|sent| {
            sent[0].headers.insert("x-sequence", "one".into());
        });
        assert!(number.contains("cannot be read"), "{number}");
    }

    #[test]
    fn a_call_without_a_number_is_only_checked_for_its_signature() {
        let mut sent = sent(1).remove(0);
        sent.headers.remove("x-sequence");
        let mut log = ReceiverLog::new(Some("another".into()));
        let reception = take(&mut log, &sent);
        assert_eq!((reception.sequence, reception.problems.len()), (None, 2));
        assert!(take(&mut ReceiverLog::new(None), &sent).problems.is_empty());
    }
}
