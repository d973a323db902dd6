//! Transactions without internal calls: transfers, an out-of-gas call, a call to a fresh contract.

use super::{Plan, Stage};
use crate::chain::frame::{Frame, FrameError};

pub fn transfer(stage: &mut Stage) -> Plan {
    let (to, value) = (stage.receiver(), stage.amount(stage.sender));
    Plan::call(Frame::call(stage.sender, to, value))
}

pub fn self_transfer(stage: &mut Stage) -> Plan {
    let value = stage.amount(stage.sender);
    Plan::call(Frame::call(stage.sender, stage.sender, value))
}

pub fn zero_value(stage: &mut Stage) -> Plan {
    let to = stage.receiver();
    Plan::call(Frame::call(stage.sender, to, 0))
}

pub fn out_of_gas(stage: &mut Stage) -> Plan {
    let (to, value) = (stage.cast.contracts.router, stage.amount(stage.sender));
    let input = stage.call_data(2);
    let root = Frame::call(stage.sender, to, value).input(input).gas(40_000);
    Plan::call(root.error(FrameError::OutOfGas))
}

/// Pays into a contract made in the parent block, so that created addresses have a history, too.
pub fn call_new_contract(stage: &mut Stage) -> Plan {
    let Some(to) = stage.recent.first().copied() else { return transfer(stage) };
    let (value, input) = (stage.amount(stage.sender), stage.call_data(1));
    Plan::call(Frame::call(stage.sender, to, value).input(input).gas(12_000))
}
