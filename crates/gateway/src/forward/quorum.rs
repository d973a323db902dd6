//! Several nodes must say the same, where nothing else tells whether an answer is right.

use bytes::Bytes;
use futures_util::future::join_all;
use rpc::{Call, CallResult, Forward, Needs, Pool, Route, UpstreamId};

use super::node_error;
use crate::answer::Failure;

/// Answers that mean the same are equal, however they are written.
#[derive(PartialEq)]
enum Word {
    Result(serde_json::Value),
    Error(i64, String),
}

struct Vote {
    word: Word,
    answer: CallResult,
}

/// Asks until so many nodes agree. Those that are asked first are asked at once.
pub async fn ask(pool: &Pool, call: &Call, needs: Needs, quorum: usize) -> Result<Bytes, Failure> {
    let all = pool.usable();
    let (first, rest) = all.split_at(quorum.min(all.len()));
    let mut votes: Vec<Vote> = Vec::new();
    for vote in join_all(first.iter().map(|id| one(pool, call, needs, *id))).await {
        votes.extend(vote);
    }
    let mut rest = rest.iter();
    loop {
        if let Some(agreed) = agreed(&votes, quorum) {
            return match agreed {
                Ok(answer) => Ok(answer.into_bytes()),
                Err(failure) => Err(node_error::told(&failure)),
            };
        }
        let Some(id) = rest.next() else { break };
        votes.extend(one(pool, call, needs, *id).await);
    }
    let why = format!(
        "{quorum} nodes of this chain must say the same (gateway.quorum); {} answered, and not so many agree",
        votes.len()
    );
    Err(Failure::new(-32000, &why))
}

async fn one(pool: &Pool, call: &Call, needs: Needs, id: UpstreamId) -> Option<Vote> {
    let not = pool.others(id);
    let route = Route { needs, not: &not, may_hedge: false };
    let forward = Forward { call: call.clone(), batch: None, route };
    let answer = pool.forward(forward).await.ok()?.answer;
    let word = match &answer {
        Ok(answer) => Word::Result(answer.parse().ok()?),
        Err(failure) => Word::Error(failure.code, failure.message.clone()),
    };
    Some(Vote { word, answer })
}

fn agreed(votes: &[Vote], quorum: usize) -> Option<CallResult> {
    let same =
        |vote: &&Vote| votes.iter().filter(|other| other.word == vote.word).count() >= quorum;
    votes.iter().find(same).map(|vote| vote.answer.clone())
}
