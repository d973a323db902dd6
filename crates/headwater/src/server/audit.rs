//! Audits on request: through the chain's ingest where it runs here, so that what is contradicted is asked for
//! again; by themselves otherwise.

use std::sync::Arc;

use alloy_primitives::B256;
use api::{AuditControl, AuditFuture};
use ingest::ChainIngest;
use ingest::audit::{Auditor, PROOFS_WITHIN};
use model::chain::Chain;
use rpc::Pool;
use store::Store;

pub struct ChainAudit {
    auditor: Auditor,
    ingest: Option<Arc<ChainIngest>>,
}

impl ChainAudit {
    pub fn new(
        store: &Store,
        pool: &Arc<Pool>,
        chain: &Arc<Chain>,
        ingest: Option<Arc<ChainIngest>>,
    ) -> Self {
        let auditor = Auditor::new(store.clone(), pool.clone(), chain.clone(), PROOFS_WITHIN);
        ChainAudit { auditor, ingest }
    }
}

impl AuditControl for ChainAudit {
    fn audit(&self, number: u64, sample: Option<usize>) -> AuditFuture {
        let (auditor, ingest) = (self.auditor.clone(), self.ingest.clone());
        Box::pin(async move {
            let audit = match ingest {
                Some(ingest) => ingest.audit(number, sample).await,
                None => auditor.audit(number, sample).await,
            };
            let audit = audit.map_err(|error| error.to_string())?;
            serde_json::to_value(audit).map_err(|error| error.to_string())
        })
    }

    fn proven_of(&self, number: u64, hash: B256) -> u64 {
        let progress = self.ingest.as_ref().map(|ingest| &ingest.progress);
        progress.map_or(0, |progress| progress.audit.proven_of(number, hash))
    }
}
