//! Whether nodes give the blocks that they announce, for a chain that nobody ingests.
//!
//! A head that was only announced says nothing: who follows the chain tells the pool which heads were given, and
//! here nobody does. So each new head is asked for by its hash, of the node that told of it, and must be what it says.

use std::sync::Arc;
use std::time::Duration;

use model::chain::Chain;
use model::raw::read_header_and_hashes;
use rpc::{Call, Fetch, Head, Lane, Needs, Pool};
use verify::{Rules, Senders, verify_lone_header};

/// A head that was not given is asked for again after this, where no other comes.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Never ends while the pool is there.
pub async fn keep_head_account(pool: Arc<Pool>, chain: Arc<Chain>) {
    pool.expect_deliveries();
    let mut heads = pool.heads();
    loop {
        let head = *heads.borrow_and_update();
        let is_settled = match head {
            Some(head) => ask(&pool, &chain, head).await,
            None => true,
        };
        if is_settled {
            if heads.changed().await.is_err() {
                return;
            }
        } else if let Ok(Err(_)) = tokio::time::timeout(AGAIN_AFTER, heads.changed()).await {
            return;
        }
    }
}

/// Whether it was given.
async fn ask(pool: &Pool, chain: &Chain, head: Head) -> bool {
    let (not, calls) = (pool.others(head.upstream), vec![Call::block_by_hash(&head.hash, false)]);
    let fetch = Fetch { calls, not: &not, needs: Needs::default(), lane: Lane::Head };
    // A node that does not answer is not in use for long, and then its head does not count.
    let Ok(fetched) = pool.fetch(fetch).await else { return false };
    let answer = fetched.answers.first().and_then(|answer| answer.as_ref().ok());
    let is_given = answer.is_some_and(|answer| {
        let Some((header, _)) = answer.read(read_header_and_hashes) else { return false };
        let is_it = (header.hash, header.number) == (Some(head.hash), Some(head.number));
        // A dev chain has rules of its own: what contradicts the chain's is no lie there.
        let rules = match chain.genesis {
            Some(genesis) if pool.is_dev_chain(genesis) => {
                Rules::of_dev_chain(chain, Senders::Sample)
            }
            _ => Rules::of(chain, Senders::Sample),
        };
        is_it && verify_lone_header(header, &rules).is_ok()
    });
    if is_given {
        pool.delivered(head.upstream, head.number, head.hash);
    } else {
        pool.not_delivered(head.upstream, head.number);
    }
    is_given
}
