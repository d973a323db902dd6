//! One chain's ingest: the head is followed at once, history is filled beside it, blocks without traces
//! are completed, and the oldest go where only the newest are wanted.

use std::sync::{Arc, Once};

use model::chain::Chain;
use rpc::Pool;
use store::Store;
use tokio::task::JoinSet;

use crate::commit::Committer;
use crate::config::Config;
use crate::context::Context;
use crate::error::Error;
use crate::pipeline::{DecodeFn, IsDevChainFn, Pipeline};
use crate::progress::{Progress, Task};
use crate::source::NodeSource;
use crate::supervise::supervise;
use crate::{backfill, follow, retain, retrace};

pub struct Options {
    pub chain: Arc<Chain>,
    pub pool: Arc<Pool>,
    pub store: Store,
    pub config: Config,
    /// The oldest block to fill down to.
    pub from_block: u64,
    /// `decoder_of` the chain.
    pub decode: DecodeFn,
    /// Only so many of the newest blocks are kept; none keeps all.
    pub retain_blocks: Option<u64>,
}

/// A running ingest. Dropping it stops the work; what was committed stays.
pub struct ChainIngest {
    pub chain: Arc<Chain>,
    pub pool: Arc<Pool>,
    pub progress: Arc<Progress>,
    pub from_block: u64,
    _tasks: JoinSet<()>,
}

impl ChainIngest {
    pub fn start(options: Options) -> Self {
        let Options { chain, pool, store, config, from_block, retain_blocks, decode } = options;
        let progress = Arc::new(Progress::default());
        pool.expect_deliveries();
        progress.set_retain(retain_blocks);
        let committer = Committer::new(store.clone(), chain.clone(), progress.clone());
        let is_dev_chain = is_dev_chain_fn(chain.clone(), pool.clone());
        let pipeline = Pipeline::new(store.clone(), chain.clone(), decode, is_dev_chain);
        let context = Context {
            source: NodeSource::new(pool.clone(), chain.clone(), pipeline, &config),
            store,
            committer: Arc::new(committer),
            second_words: Arc::default(),
            config,
            from_block,
            retain_blocks,
            progress: progress.clone(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(keep(context.clone(), Task::Follow, follow::run));
        tasks.spawn(keep(context.clone(), Task::Backfill, backfill::run));
        tasks.spawn(keep(context.clone(), Task::Retrace, retrace::run));
        tasks.spawn(keep(context, Task::Retain, retain::run));
        ChainIngest { chain, pool, progress, from_block, _tasks: tasks }
    }
}

fn is_dev_chain_fn(chain: Arc<Chain>, pool: Arc<Pool>) -> IsDevChainFn {
    let told = Once::new();
    Box::new(move || {
        let is_dev_chain = chain.genesis.is_some_and(|genesis| pool.is_dev_chain(genesis));
        if is_dev_chain {
            told.call_once(|| {
                let chain = &chain.name;
                tracing::warn!(%chain, "the node's block 0 is another than the public chain's: taken for a dev chain");
            });
        }
        is_dev_chain
    })
}

async fn keep<F>(context: Context, task: Task, run: fn(Context) -> F)
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    supervise(&context.progress, context.chain_id(), task, || run(context.clone())).await;
}
