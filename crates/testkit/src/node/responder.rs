//! One call, answered as this node does: its faults first, then the method, then the lies.
//!
//! Used by HTTP and WebSocket alike. What only the transport can do (wait, break off, refuse) is
//! returned as `TransportFault`.

use super::{
    call::{Call, Reply},
    faults::Faults,
    methods,
    node_view::NodeView,
    rule::Fault,
    tamper::Tamper,
};
use crate::chain::{SharedChain, SimBlock, SimChain, read};
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Blocks that a flapping node forgets on every second call.
const FLAP: u64 = 3;

pub(super) struct Responder {
    pub chain: SharedChain,
    pub faults: Arc<Faults>,
    flaps: AtomicU64,
}

/// What the transport has to do besides sending the reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TransportFault {
    pub delay: Duration,
    pub hang: bool,
    pub http_status: Option<u16>,
    pub retry_after_s: Option<u64>,
    pub truncate: bool,
    pub body: Option<BodyFault>,
}

/// What becomes of a body on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFault {
    Endless,
    Stalled,
    Broken,
}

impl TransportFault {
    /// A batch suffers what any of its calls suffers.
    pub fn merge(&mut self, other: Self) {
        self.delay = self.delay.max(other.delay);
        self.hang |= other.hang;
        self.http_status = self.http_status.or(other.http_status);
        self.retry_after_s = self.retry_after_s.or(other.retry_after_s);
        self.truncate |= other.truncate;
        self.body = self.body.or(other.body);
    }
}

impl Responder {
    pub fn new(chain: SharedChain, faults: Arc<Faults>) -> Self {
        Self { chain, faults, flaps: AtomicU64::new(0) }
    }

    pub fn answer(&self, call: &Call) -> (Reply, TransportFault) {
        self.answer_with(call, methods::answer)
    }

    /// `honest` gives the reply of a node without faults.
    pub fn answer_with(
        &self,
        call: &Call,
        honest: impl FnOnce(&NodeView, &Call) -> Reply,
    ) -> (Reply, TransportFault) {
        self.faults.count(&call.method);
        let chain = read(&self.chain);
        let mut view = self.view(&chain, 0);
        let number = view.subject(call).map(|block| block.number());
        let faults = self.faults.on_call(&call.method, number);
        view.lag = self.lag(&faults);
        let transport_fault = transport_fault(&faults);
        if let Some(reply) = refusal(call, &faults) {
            return (reply, transport_fault);
        }
        let reply = far_head(honest(&view, call), call, &faults);
        (self.tampered(reply, &view, view.subject(call).as_deref(), &faults), transport_fault)
    }

    /// What a `newHeads` subscriber is told about a new block; nothing where the node keeps silent.
    pub fn head_notice(&self, block: &SimBlock) -> Option<bytes::Bytes> {
        let chain = read(&self.chain);
        let faults = self.faults.on_call("eth_subscription", Some(block.number()));
        if faults.contains(&Fault::SilentSubscription) {
            return None;
        }
        let view = self.view(&chain, 0);
        let seen = match self.lag(&faults) {
            0 => view.block_by_hash(block.hash)?,
            lag => view.block(block.number().checked_sub(lag)?)?,
        };
        let reply = Reply::Result(seen.header_json());
        match self.tampered(reply, &view, Some(&seen), &faults) {
            Reply::Result(text) => Some(text),
            Reply::Error { .. } => None,
        }
    }

    fn view<'a>(&self, chain: &'a SimChain, lag: u64) -> NodeView<'a> {
        NodeView { chain, lag, forges: self.faults.tells(Tamper::WrongParentRehashed) }
    }

    fn lag(&self, faults: &[Fault]) -> u64 {
        let one = |fault: &Fault| match fault {
            Fault::Lag(blocks) => *blocks,
            Fault::FlappingHead => FLAP * (self.flaps.fetch_add(1, Ordering::Relaxed) % 2),
            _ => 0,
        };
        faults.iter().map(one).max().unwrap_or_default()
    }

    fn tampered(
        &self,
        reply: Reply,
        view: &NodeView,
        block: Option<&SimBlock>,
        faults: &[Fault],
    ) -> Reply {
        let (Reply::Result(mut text), Some(block)) = (reply.clone(), block) else { return reply };
        let lies = faults.iter().filter_map(|fault| match fault {
            Fault::Tamper(tamper) => Some(*tamper),
            _ => None,
        });
        for lie in lies {
            // The genesis is empty, so the block after it borrows from its successor.
            let number = block.number();
            let neighbour = if number > 1 { number - 1 } else { number + 1 };
            text = lie.apply(&text, block, view.chain.block(neighbour).as_deref());
        }
        Reply::Result(text)
    }
}

/// Another number and a hash that nobody has.
fn far_head(reply: Reply, call: &Call, faults: &[Fault]) -> Reply {
    let far = faults.iter().find_map(|fault| match fault {
        Fault::FarHead(number) => Some(*number),
        _ => None,
    });
    match (far, &reply) {
        (Some(number), Reply::Result(text)) if call.text(0) == Some("latest") => {
            let Ok(mut head) = serde_json::from_slice::<Value>(text) else { return reply };
            if let Some(fields) = head.as_object_mut() {
                fields.insert("number".into(), format!("{number:#x}").into());
                let hash = alloy_primitives::keccak256(number.to_be_bytes());
                fields.insert("hash".into(), hash.to_string().into());
            }
            Reply::value(head)
        }
        _ => reply,
    }
}

fn transport_fault(faults: &[Fault]) -> TransportFault {
    let mut transport_fault = TransportFault::default();
    for fault in faults {
        match fault {
            Fault::Delay(delay) => transport_fault.delay = transport_fault.delay.max(*delay),
            Fault::Hang => transport_fault.hang = true,
            Fault::HttpError(status) => transport_fault.http_status = Some(*status),
            Fault::RateLimit { retry_after_s } => {
                transport_fault.retry_after_s = Some(*retry_after_s)
            }
            Fault::TruncatedBody => transport_fault.truncate = true,
            Fault::EndlessBody => transport_fault.body = Some(BodyFault::Endless),
            Fault::StalledBody => transport_fault.body = Some(BodyFault::Stalled),
            Fault::BrokenBody => transport_fault.body = Some(BodyFault::Broken),
            _ => {}
        }
    }
    transport_fault
}

/// Faults that take the place of the answer.
fn refusal(call: &Call, faults: &[Fault]) -> Option<Reply> {
    faults.iter().find_map(|fault| match fault {
        Fault::NoMethod => Some(Reply::no_method(&call.method)),
        Fault::NotFound => Some(Reply::or_null(None)),
        Fault::Reply(json) => Some(Reply::Result(json.clone().into())),
        Fault::RpcError { code, message } => Some(Reply::error(*code, message.clone())),
        Fault::WrongChainId(id) if call.method == "eth_chainId" => {
            Some(Reply::quantity((*id).into()))
        }
        Fault::WrongChainId(id) => Some(Reply::value(id.to_string().into())),
        _ => None,
    })
}
