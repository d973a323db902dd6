//! What keeps the server from doing its work, told to whoever asks whether it is ready.
//!
//! A node that is away is no problem by itself: what is stored is still answered, and /status says what
//! is waited for. It is one where nothing could be stored at all yet.

use crate::app::App;
use crate::problem::Problem;
use crate::served_chain::ServedChain;

const GOES_ON: &str = "it goes on by itself when the store can be reached";
const DAMAGED: &str = "stop the server and run `headwater check`";

pub async fn problems(app: &App) -> Vec<Problem> {
    let mut problems = (app.parts.problems)();
    for served in &app.parts.chains {
        match is_empty(app, served).await {
            Ok(false) => {}
            Ok(true) => problems.push(Problem {
                chain: Some(served.chain.slug.clone()),
                reason: "nothing is stored yet, and no node has told of a block".to_owned(),
                advice: "look at the upstreams of this chain in /status".to_owned(),
            }),
            Err(error) => problems.push(Problem {
                chain: Some(served.chain.slug.clone()),
                reason: format!("the store cannot be read: {error}"),
                advice: if error.is_retryable() { GOES_ON } else { DAMAGED }.to_owned(),
            }),
        }
    }
    problems
}

/// Whether a chain that is being read has nothing to answer from, neither stored nor at a node.
async fn is_empty(app: &App, served: &ServedChain) -> Result<bool, store::Error> {
    if served.ingest.is_none() || served.node_head().is_some() {
        return Ok(false);
    }
    Ok(app.parts.store.view().await?.coverage(served.chain.id).await?.is_empty())
}
