//! Active, paused, error: by the stream's owner, or by how its deliveries fare.

use std::sync::Arc;

use store::StreamId;

use super::error::NO_STREAM;
use super::{StreamError, Streams};
use crate::engine::{Context, Engine};
use crate::record::{ACTIVE, OwnStart, PAUSED, Status, StreamView};
use crate::registry::{Class, Mode};

impl Streams {
    /// Made active again, a stream goes on with the next block, or with `from_block`; its receiver is tried first.
    pub async fn set_status(
        &self,
        tenant: &str,
        id: StreamId,
        status: Status,
        from_block: Option<u64>,
    ) -> Result<StreamView, StreamError> {
        let _one_at_a_time = self.changing(id).await;
        let (now, url) = self.with(tenant, id, |entry| {
            (entry.record.status, entry.record.definition.webhook_url.clone())
        })?;
        if now == Status::Terminated {
            let why = "the stream is terminated and cannot be made active again; create a new one";
            return Err(StreamError::BadRequest(why.to_owned()));
        }
        let message = match status {
            Status::Active => ACTIVE,
            Status::Paused => PAUSED,
            Status::Error => "Stream was set to error by the user",
            Status::Terminated => {
                let why = "status must be active, paused or error";
                return Err(StreamError::BadRequest(why.to_owned()));
            }
        };
        if status == Status::Active {
            self.test_call(tenant, &url).await?;
        }
        let Inner { context, engine, .. } = self.parts();
        change(context, engine, id, NewStatus { status, message: message.to_owned() }).await?;
        if status == Status::Active {
            if let Some(from_block) = from_block {
                self.go_back(id, from_block).await?;
            }
            self.inner.deliverer.wake(id);
        }
        self.get(tenant, id)
    }

    /// What a sender in another process found out about a stream: `/{id}/{status}`, and why.
    pub async fn take_report(&self, path: &str, message: String) -> Result<(), StreamError> {
        let parts = path.strip_prefix('/').and_then(|rest| rest.split_once('/'));
        let read = parts.and_then(|(id, name)| Some((id.parse().ok()?, Status::from_name(name)?)));
        let Some((id, status)) = read else { return Err(NO_STREAM) };
        let is_active = {
            let registry = self.inner.context.registry.read();
            registry.get(id).is_some_and(|entry| entry.record.status == Status::Active)
        };
        if !is_active {
            return Ok(());
        }
        let Inner { context, engine, .. } = self.parts();
        change(context, engine, id, NewStatus { status, message }).await
    }

    fn parts(&self) -> Inner<'_> {
        Inner { context: &self.inner.context, engine: &self.inner.engine }
    }

    /// Lets a stream begin again with a past block, on all its chains.
    async fn go_back(&self, id: StreamId, from_block: u64) -> Result<(), StreamError> {
        let context = &self.inner.context;
        let Some((chains, class)) = context
            .registry
            .read()
            .get(id)
            .map(|it| (it.plan.chains.clone(), Class::of(&it.record.definition)))
        else {
            return Ok(());
        };
        for chain in chains {
            context.registry.write().set_mode(id, chain, Some(Mode::Shared(class)));
            self.inner.engine.end_own(chain, id).await?;
            if let Some(mut placed) =
                self.inner.engine.place(chain, class, Some(from_block)).await?
            {
                placed.own_start = Some(OwnStart::Block(from_block));
                self.settle_at(id, chain, class, &placed).await?;
            }
        }
        Ok(())
    }
}

struct Inner<'a> {
    context: &'a Arc<Context>,
    engine: &'a Arc<Engine>,
}

pub struct NewStatus {
    pub status: Status,
    pub message: String,
}

/// Written before it is in force. A stream that is not matched any more gives up its own place.
pub async fn change(
    context: &Arc<Context>,
    engine: &Arc<Engine>,
    id: StreamId,
    new: NewStatus,
) -> Result<(), StreamError> {
    let held = engine.hold(id).await?;
    let (tenant, mut record) = match context.registry.read().get(id) {
        Some(entry) => (entry.tenant.clone(), entry.record.clone()),
        None => return Ok(()),
    };
    record.set_status(new.status, new.message);
    if new.status == Status::Active {
        // What failed before is over: a receiver that answers again starts anew.
        record.success_rate = 100;
    }
    let gives_up = !new.status.is_matched();
    let own: Vec<_> = held.iter().filter(|it| it.mode == Mode::Own).map(|it| it.chain).collect();
    if gives_up {
        record.own_readers.clear();
    }
    context.store.put_stream(record.row(id, &tenant)).await?;
    let class = Class::of(&record.definition);
    {
        let mut registry = context.registry.write();
        if let Some(entry) = registry.get_mut(id) {
            entry.record = record;
            entry.note = None;
        }
        if gives_up {
            for chain in &own {
                registry.set_mode(id, *chain, Some(Mode::Shared(class)));
            }
        }
    }
    drop(held);
    if gives_up {
        for chain in own {
            engine.end_own(chain, id).await?;
        }
    }
    Ok(())
}
