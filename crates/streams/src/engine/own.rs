//! Matches for one stream that is not where the others are, until it is.

use std::sync::{Arc, Weak};
use std::time::Duration;

use store::{Error, StreamChange, StreamId};

use super::Engine;
use super::matcher::Matcher;
use super::shared::is_full;
use super::step::{Progress, own_reader_name};
use crate::registry::{Class, Mode};

/// Looks again at what nobody tells of: the others' place, the length of the queue.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const NO_ADDRESS: &str = "it begins with its fromBlock when it has an address";
const QUEUE_FULL: &str = "its queue is longer than streams.queue_bytes_max, and it goes on when some of it was delivered";

/// Whatever happens to it, it is begun again.
pub async fn keep(engine: Weak<Engine>, matcher: Arc<Matcher>, id: StreamId) {
    let Some(tasks) = engine.upgrade().map(|engine| engine.context.tasks.clone()) else { return };
    tasks.keep_running(&matcher.task, || false, || run(&engine, &matcher, id)).await;
}

async fn run(engine: &Weak<Engine>, matcher: &Matcher, id: StreamId) -> Result<(), Error> {
    let Some(strong) = engine.upgrade() else { return Ok(()) };
    let mut written = strong.context.store.subscribe(matcher.chain);
    drop(strong);
    loop {
        let Some(engine) = engine.upgrade() else { return Ok(()) };
        written.borrow_and_update();
        if let Some(why) = held_back(&engine, id).await {
            note(&engine, id, Some(why.to_owned()));
            drop(engine);
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        }
        let next = step(&engine, matcher, id).await?;
        engine.context.tasks.recovered(&matcher.task);
        drop(engine);
        let wait = match next {
            Next::Again => continue,
            Next::Joined => return Ok(()),
            Next::After(wait) => wait,
        };
        let _ = tokio::time::timeout(wait, written.changed()).await;
    }
}

/// Why it stays where it is for now.
async fn held_back(engine: &Engine, id: StreamId) -> Option<&'static str> {
    let watches_nothing = engine.context.registry.read().get(id).is_some_and(|entry| {
        // Past blocks that went by before the first address came would never be told.
        let definition = &entry.record.definition;
        entry.addresses == 0 && !definition.all_addresses && definition.from_block.is_some()
    });
    if watches_nothing {
        return Some(NO_ADDRESS);
    }
    is_full(engine, id).await.then_some(QUEUE_FULL)
}

enum Next {
    Again,
    After(Duration),
    Joined,
}

async fn step(engine: &Arc<Engine>, matcher: &Matcher, id: StreamId) -> Result<Next, Error> {
    let permit = engine.context.own_permits.acquire().await;
    let progress = matcher.step(&engine.context).await?.progress;
    drop(permit);
    match progress {
        Progress::Moved => {
            note(engine, id, None);
            Ok(Next::Again)
        }
        Progress::Waits(wait) => Ok(Next::After(wait)),
        Progress::Idle if join(engine, matcher, id).await? => Ok(Next::Joined),
        Progress::Idle => {
            note(engine, id, waits_for(engine, matcher).await?);
            Ok(Next::After(LOOK_AGAIN))
        }
    }
}

/// From now on the stream is matched with the others, if it is where they are.
async fn join(engine: &Arc<Engine>, matcher: &Matcher, id: StreamId) -> Result<bool, Error> {
    let class = match engine.context.registry.read().get(id) {
        Some(entry) => Class::of(&entry.record.definition),
        None => return Ok(false),
    };
    let Some(shared) = engine.shared(matcher.chain, class) else { return Ok(false) };
    let mut others = shared.lock().await?;
    let mut own = matcher.lock().await?;
    // Both take in what was written up to now, so that none of it is passed over or told twice.
    let other = shared.step_locked(&engine.context, &mut others).await?;
    let mine = matcher.step_locked(&engine.context, &mut own).await?;
    let both_idle = other.progress == Progress::Idle && mine.progress == Progress::Idle;
    if !both_idle || others.reader.cursor() != own.reader.cursor() {
        return Ok(false);
    }
    let Some(cursor) = others.reader.cursor() else { return Ok(false) };
    others.settle().await?;
    own.settle().await?;
    let row = {
        let registry = engine.context.registry.read();
        let Some(entry) = registry.get(id) else { return Ok(false) };
        let mut record = entry.record.clone();
        record.set_own_reader(matcher.chain, None);
        record.row(id, &entry.tenant)
    };
    let change = StreamChange {
        retire: Some(own_reader_name(id)),
        streams: vec![row],
        ..StreamChange::default()
    };
    others.reader.commit_streams(cursor, change).await?;
    let mut registry = engine.context.registry.write();
    registry.set_mode(id, matcher.chain, Some(Mode::Shared(class)));
    if let Some(entry) = registry.get_mut(id) {
        entry.record.set_own_reader(matcher.chain, None);
        entry.note = None;
    }
    drop(registry);
    engine.forget_own(matcher.chain, id);
    Ok(true)
}

/// The block that is missing, where there are newer ones.
async fn waits_for(engine: &Engine, matcher: &Matcher) -> Result<Option<String>, Error> {
    let Some(next) = matcher.lock().await?.next_block() else { return Ok(None) };
    let newest = engine.context.store.view().await?.coverage(matcher.chain).await?.newest();
    let is_missing = newest.is_some_and(|newest| next <= newest);
    Ok(is_missing.then(|| format!("it waits for block {next} to be indexed")))
}

fn note(engine: &Engine, id: StreamId, note: Option<String>) {
    let is_known = engine.context.registry.read().get(id).is_some_and(|it| it.note == note);
    if !is_known && let Some(entry) = engine.context.registry.write().get_mut(id) {
        entry.note = note;
    }
}
