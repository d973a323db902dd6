//! Audits on request: through the chain's ingest where it runs here, so that what is contradicted is asked for
//! again; by themselves otherwise.

use std::sync::Arc;

use alloy_primitives::B256;
use api::{AuditControl, AuditFuture};
use ingest::audit::{Auditor, PROOFS_WITHIN};
use model::chain::Chain;
use rpc::Pool;
use store::Store;

use super::ingests::IngestSlot;

pub struct ChainAudit {
    auditor: Auditor,
    ingest: Option<Arc<IngestSlot>>,
}

impl ChainAudit {
    pub fn new(
        store: &Store,
        pool: &Arc<Pool>,
        chain: &Arc<Chain>,
        ingest: Option<Arc<IngestSlot>>,
    ) -> Self {
        let auditor = Auditor::new(store.clone(), pool.clone(), chain.clone(), PROOFS_WITHIN);
        ChainAudit { auditor, ingest }
    }
}

impl AuditControl for ChainAudit {
    fn audit(&self, number: u64, sample: Option<usize>) -> AuditFuture {
        let (auditor, ingest) = (self.auditor.clone(), self.ingest.clone());
        Box::pin(async move {
            let audit = match ingest.and_then(|slot| slot.running()) {
                Some(ingest) => ingest.audit(number, sample).await,
                None => auditor.audit(number, sample).await,
            };
            let audit = audit.map_err(|error| error.to_string())?;
            serde_json::to_value(audit).map_err(|error| error.to_string())
        })
    }

    fn proven_of(&self, number: u64, hash: B256) -> u64 {
        let running = self.ingest.as_ref().and_then(|slot| slot.running());
        running.map_or(0, |ingest| ingest.progress.audit.proven_of(number, hash))
    }
}
