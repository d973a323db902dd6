//! Which logs a stream wants: one event, and what its fields must say.

use alloy_dyn_abi::DynSolValue;
use alloy_primitives::B256;

use super::{
    condition::Condition,
    event_abi::{EventAbi, LogView},
};

#[derive(Clone, Debug)]
pub struct EventRule {
    pub topic0: B256,
    /// The transaction of a log that this rule accepts is wanted, too.
    pub include_native_txs: bool,
    /// None: the stream's ABI does not have the event, and topic0 alone decides.
    event: Option<EventAbi>,
    filter: Option<Condition>,
}

impl EventRule {
    pub(super) fn new(topic0: B256, event: Option<EventAbi>) -> Self {
        Self { topic0, include_native_txs: false, event, filter: None }
    }

    pub(super) fn with_filter(mut self, filter: Option<Condition>) -> Self {
        self.filter = filter;
        self
    }

    /// Whether this log is such an event (topic0, number of indexed fields as the ABI says, data decodes) and
    /// passes the filters.
    pub fn accepts(&self, log: LogView<'_>) -> bool {
        log.topics.first() == Some(&self.topic0)
            && self.event.as_ref().is_none_or(|event| event.fits(log.topics, log.data))
            && self.filter.as_ref().is_none_or(|filter| filter.holds(log))
    }

    /// The event's fields in ABI order. None if it is another event, its data is not as the ABI says, or the
    /// ABI does not have it. Filters are not asked.
    pub fn decode(&self, log: LogView<'_>) -> Option<Vec<(String, DynSolValue)>> {
        self.event.as_ref()?.decode(log.topics, log.data)
    }
}
