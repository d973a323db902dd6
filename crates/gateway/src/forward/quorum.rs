//! Several nodes must say the same, where nothing else tells whether an answer is right.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rpc::{Call, CallResult, Forward, Needs, Pool, Route, UpstreamId};
use std::time::Duration;
use tokio::time::sleep;

use super::node_error;
use crate::answer::Failure;

/// Another is asked beside those that have not answered after this.
const SLOW: Duration = Duration::from_millis(500);

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

/// Asks until so many nodes agree: at once as many as must, and one more for each that fails, says something else
/// or takes long.
pub async fn ask(pool: &Pool, call: &Call, needs: Needs, quorum: usize) -> Result<Bytes, Failure> {
    let mut others = pool.ranked(&needs).into_iter().peekable();
    let mut votes: Vec<Vote> = Vec::new();
    let mut asked = FuturesUnordered::new();
    loop {
        let wanted = quorum.saturating_sub(most(&votes));
        while asked.len() < wanted
            && let Some(id) = others.next()
        {
            asked.push(one(pool, call, needs, id));
        }
        if asked.is_empty() {
            break;
        }
        tokio::select! {
            biased;
            vote = asked.next() => votes.extend(vote.flatten()),
            () = sleep(SLOW), if others.peek().is_some() => {
                asked.extend(others.next().map(|id| one(pool, call, needs, id)));
            }
        }
        match agreed(&votes, quorum) {
            Some(Ok(answer)) => return Ok(answer.into_bytes()),
            Some(Err(failure)) => return Err(node_error::told(&failure)),
            None => {}
        }
    }
    let why = format!(
        "{quorum} nodes of this chain must say the same (gateway.quorum); {} answered, and not so many agree",
        votes.len()
    );
    Err(Failure::new(-32000, &why))
}

/// How many say the same, at most.
fn most(votes: &[Vote]) -> usize {
    let same = |vote: &Vote| votes.iter().filter(|other| other.word == vote.word).count();
    votes.iter().map(same).max().unwrap_or(0)
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
