//! One event of an ABI, resolved: where each of its fields stands in a log.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, B256, keccak256};
use model::chain::ChainId;

use super::{
    sol_decode::{decode_sequence, decode_topic},
    sol_type::{TypeFault, head_words, is_dynamic, param_type, type_list_name},
    stream::AbiItem,
};

/// A log, and what a filter may ask beside its fields.
#[derive(Clone, Copy, Debug)]
pub struct LogView<'a> {
    pub chain: ChainId,
    pub address: Address,
    pub topics: &'a [B256],
    pub data: &'a [u8],
    pub possible_spam: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventPlace {
    /// Indexed: the number of the topic.
    Topic(usize),
    /// The byte of the data where the field, or the offset of it, stands.
    Data(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventInput {
    pub name: String,
    pub ty: DynSolType,
    pub place: EventPlace,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventAbi {
    pub topic0: B256,
    pub inputs: Vec<EventInput>,
    topics: usize,
    body: Vec<DynSolType>,
    /// How long the data must be, if that is all there is to decoding it.
    static_bytes: Option<usize>,
}

impl EventAbi {
    /// The item is an event with a name. The fault's path is within the item.
    pub(super) fn new(item: &AbiItem) -> Result<Self, TypeFault> {
        let mut inputs = Vec::new();
        let (mut topics, mut head, mut body, mut types) = (1, 0_usize, Vec::new(), Vec::new());
        for (index, param) in item.inputs.iter().flatten().enumerate() {
            let ty = param_type(param).map_err(|fault| TypeFault {
                path: format!("inputs.{index}.{}", fault.path),
                message: fault.message,
            })?;
            let place = if param.indexed == Some(true) {
                topics += 1;
                EventPlace::Topic(topics - 1)
            } else {
                let place = EventPlace::Data(head);
                head = head.saturating_add(head_words(&ty).saturating_mul(32));
                body.push(ty.clone());
                place
            };
            types.push(ty.clone());
            inputs.push(EventInput { name: param.name.clone(), ty, place });
        }
        let name = item.name.as_deref().unwrap_or_default();
        let topic0 = keccak256(format!("{name}{}", type_list_name(&types)));
        let static_bytes = (!body.iter().any(is_dynamic)).then_some(head);
        Ok(Self { topic0, inputs, topics, body, static_bytes })
    }

    pub(super) fn input(&self, name: &str) -> Option<&EventInput> {
        self.inputs.iter().find(|input| input.name == name && !name.is_empty())
    }

    /// Whether a log is this event, told without making values where that is possible.
    pub(super) fn fits(&self, topics: &[B256], data: &[u8]) -> bool {
        self.has_topics(topics)
            && match self.static_bytes {
                Some(bytes) => data.len() >= bytes,
                None => decode_sequence(&self.body, data).is_some(),
            }
    }

    /// In ABI order.
    pub(super) fn decode(
        &self,
        topics: &[B256],
        data: &[u8],
    ) -> Option<Vec<(String, DynSolValue)>> {
        if !self.has_topics(topics) {
            return None;
        }
        let mut body = decode_sequence(&self.body, data)?.into_iter();
        let values = self.inputs.iter().map(|input| {
            let value = match input.place {
                EventPlace::Topic(number) => decode_topic(&input.ty, *topics.get(number)?),
                EventPlace::Data(_) => body.next()?,
            };
            Some((input.name.clone(), value))
        });
        values.collect()
    }

    fn has_topics(&self, topics: &[B256]) -> bool {
        topics.len() == self.topics && topics.first() == Some(&self.topic0)
    }
}
