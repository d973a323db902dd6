//! What a stored block says that it did to one account's balance: transactions, internal transfers, fees, what
//! the fee recipient got, withdrawals.
//!
//! Pure. Where a rule of the chain is not modelled that could touch the account, nothing is said at all: a
//! difference would prove nothing.

use alloy_primitives::{Address, B256, U256, address, b256};
use model::chain::{Chain, Verification};
use model::raw::json_value::JsonValue;
use model::raw::{Block, Frame, FrameKind, Receipt, Tx};

/// What came in and what went out. Both are sums, so that nothing is ever below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    pub received: U256,
    pub spent: U256,
}

/// Why a block says nothing that a balance could be held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unexplained {
    #[error("the chain's rules are not modelled")]
    Chain,
    #[error("the block is untraced")]
    Untraced,
    #[error("the block lacks receipts")]
    NoReceipts,
    #[error("the block's withdrawals are not stored")]
    NoWithdrawals,
    #[error("rewards of miners are not modelled")]
    Reward,
    #[error("rewards of uncles are not modelled")]
    UncleReward,
    #[error("receipts before Byzantium do not say whether a transaction succeeded")]
    Outcome,
    #[error("the block moved balances by itself")]
    Irregular,
    #[error("what goes into the chain's fee vaults is not modelled")]
    Vault,
    #[error("the chain's operator fee is not modelled")]
    OperatorFee,
    #[error("a fee or a price is not known")]
    Fee,
}

const WEI_PER_GWEI: u64 = 1_000_000_000;
const NO_UNCLES: B256 = b256!("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
/// The DAO fork: mainnet moved the balances of some accounts in this block.
const DAO_BLOCK: (u64, u64) = (1, 1_920_000);
/// Where the OP stack puts base fees, L1 fees and operator fees. (The sequencer's is the fee recipient.)
const VAULTS: [Address; 3] = [
    address!("4200000000000000000000000000000000000019"),
    address!("420000000000000000000000000000000000001a"),
    address!("420000000000000000000000000000000000001b"),
];
const DEPOSIT: u64 = 0x7e;

/// Whether the chain's rules are known well enough to explain balances.
pub fn is_modelled(chain: &Chain) -> bool {
    matches!(chain.verification, Verification::Full | Verification::OpStack)
}

pub fn explained(block: &Block, wallet: Address, chain: &Chain) -> Result<Explained, Unexplained> {
    if !is_modelled(chain) {
        return Err(Unexplained::Chain);
    }
    let is_op_stack = chain.verification == Verification::OpStack;
    if (chain.id.0, block.number) == DAO_BLOCK {
        return Err(Unexplained::Irregular);
    }
    if is_op_stack && VAULTS.contains(&wallet) {
        return Err(Unexplained::Vault);
    }
    let header = &block.header;
    let is_miner = header.miner == Some(wallet);
    if header.difficulty.is_some_and(|difficulty| !difficulty.is_zero()) {
        if header.sha3_uncles != Some(NO_UNCLES) {
            return Err(Unexplained::UncleReward);
        }
        if is_miner {
            return Err(Unexplained::Reward);
        }
    }
    let traces = match &block.traces {
        Some(traces) => traces.as_slice(),
        None if block.txs.is_empty() => &[],
        None => return Err(Unexplained::Untraced),
    };
    let mut ledger = Ledger { wallet, sum: Explained::default() };
    for (i, (tx, receipt)) in block.txs.iter().zip(&block.receipts).enumerate() {
        let receipt = receipt.as_ref().ok_or(Unexplained::NoReceipts)?;
        let frames = traces.get(i).map(Vec::as_slice).unwrap_or_default();
        let part = TxPart { tx, receipt, frames, is_op_stack, has_cancun: has_cancun(block) };
        ledger.fees(&part, is_miner, header.base_fee_per_gas.unwrap_or_default())?;
        ledger.transfers(&part)?;
    }
    if header.withdrawals_root.is_some() && header.withdrawals.is_none() && !is_op_stack {
        return Err(Unexplained::NoWithdrawals);
    }
    for withdrawal in header.withdrawals.iter().flatten() {
        if withdrawal.address == Some(wallet) {
            let gwei = U256::from(withdrawal.amount.unwrap_or_default());
            ledger.receive(gwei.saturating_mul(U256::from(WEI_PER_GWEI)));
        }
    }
    Ok(ledger.sum)
}

/// Since Cancun only what was made in the same transaction is destroyed (EIP-6780).
fn has_cancun(block: &Block) -> bool {
    block.header.parent_beacon_block_root.is_some()
}

/// One transaction and what is stored of it.
struct TxPart<'a> {
    tx: &'a Tx,
    receipt: &'a Receipt,
    /// With the root, or without.
    frames: &'a [Frame],
    is_op_stack: bool,
    has_cancun: bool,
}

impl TxPart<'_> {
    fn is_deposit(&self) -> bool {
        self.is_op_stack && self.tx.kind == Some(DEPOSIT)
    }

    fn extra(&self, name: &str) -> Option<U256> {
        let (_, text) = self.receipt.extras.iter().find(|(known, _)| &**known == name)?;
        U256::read_json(text.as_bytes()).map(|(value, _)| value)
    }

    fn made(&self, address: Address) -> bool {
        let by_frame = |frame: &Frame| {
            frame.kind.is_create() && frame.error.is_none() && frame.to == Some(address)
        };
        self.receipt.contract_address == Some(address) || self.frames.iter().any(by_frame)
    }

    /// Whether its account goes with a self-destruct.
    fn is_destroyed(&self, address: Address) -> bool {
        !self.has_cancun || self.made(address)
    }
}

struct Ledger {
    wallet: Address,
    sum: Explained,
}

impl Ledger {
    fn receive(&mut self, amount: U256) {
        self.sum.received = self.sum.received.saturating_add(amount);
    }

    fn spend(&mut self, amount: U256) {
        self.sum.spent = self.sum.spent.saturating_add(amount);
    }

    fn fees(&mut self, part: &TxPart, is_miner: bool, base_fee: U256) -> Result<(), Unexplained> {
        // What is minted by a deposit stays, whether it succeeds or not; nobody pays a fee for it.
        if part.is_deposit() {
            if part.tx.from == Some(self.wallet) {
                self.receive(part.tx.mint.unwrap_or_default());
            }
            return Ok(());
        }
        let pays = part.tx.from == Some(self.wallet);
        if !pays && !is_miner {
            return Ok(());
        }
        let price = part.receipt.effective_gas_price.or(part.tx.gas_price);
        let (price, used) = price.zip(part.receipt.gas_used).ok_or(Unexplained::Fee)?;
        let used = U256::from(used);
        if pays {
            self.spend(price.saturating_mul(used));
            self.blob_and_l1_fees(part)?;
        }
        if is_miner {
            let tip = price.checked_sub(base_fee).ok_or(Unexplained::Fee)?;
            self.receive(tip.saturating_mul(used));
        }
        Ok(())
    }

    /// Of the sender.
    fn blob_and_l1_fees(&mut self, part: &TxPart) -> Result<(), Unexplained> {
        let blobs = part.tx.blob_versioned_hashes.as_ref().is_some_and(|list| !list.is_empty());
        if blobs {
            let (price, used) = part
                .receipt
                .blob_gas_price
                .zip(part.receipt.blob_gas_used)
                .ok_or(Unexplained::Fee)?;
            self.spend(price.saturating_mul(U256::from(used)));
        }
        if part.is_op_stack {
            let operator = ["operatorFeeScalar", "operatorFeeConstant"];
            if operator.iter().any(|name| part.extra(name).is_some_and(|fee| !fee.is_zero())) {
                return Err(Unexplained::OperatorFee);
            }
            self.spend(part.extra("l1Fee").ok_or(Unexplained::Fee)?);
        }
        Ok(())
    }

    /// The transaction's own value, and what frames below it moved.
    fn transfers(&mut self, part: &TxPart) -> Result<(), Unexplained> {
        let (tx, receipt) = (part.tx, part.receipt);
        let value = tx.value.unwrap_or_default();
        let to = tx.to.or(receipt.contract_address);
        let concerns = tx.from == Some(self.wallet) || to == Some(self.wallet);
        let stands = match receipt.status {
            Some(status) => status == 1,
            None if concerns && !value.is_zero() => return Err(Unexplained::Outcome),
            None => true,
        };
        if stands {
            self.move_value(tx.from, to, value);
        }
        // What it holds since it destroyed itself: gone at the end of the transaction.
        let mut since_destroyed: Option<Explained> = None;
        let inner = part.frames.iter().filter(|frame| !frame.path.is_empty());
        for frame in inner.filter(|frame| frame.moves_value()) {
            let ends = frame.kind == FrameKind::SelfDestruct && frame.from == self.wallet;
            if ends && frame.to == Some(self.wallet) {
                // To itself: burnt with the account, or nothing happens.
                if part.is_destroyed(self.wallet) {
                    self.spend(frame.value);
                }
            } else {
                self.move_value(Some(frame.from), frame.to, frame.value);
            }
            if ends && part.is_destroyed(self.wallet) {
                since_destroyed = Some(self.sum);
            }
        }
        if let Some(before) = since_destroyed {
            let received = self.sum.received.saturating_sub(before.received);
            let spent = self.sum.spent.saturating_sub(before.spent);
            self.spend(received.saturating_sub(spent));
        }
        Ok(())
    }

    fn move_value(&mut self, from: Option<Address>, to: Option<Address>, value: U256) {
        if from == Some(self.wallet) {
            self.spend(value);
        }
        if to == Some(self.wallet) {
            self.receive(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::chain::{ChainId, ChainTable};

    use super::*;

    const WALLET: Address = Address::repeat_byte(7);
    const OTHER: Address = Address::repeat_byte(8);

    fn frame(kind: FrameKind, from: Address, to: Address, value: u64) -> Frame {
        let (to, value, path) = (Some(to), U256::from(value), vec![0]);
        Frame { kind, from, to, value, path, ..Frame::default() }
    }

    /// One transaction between strangers, in which these frames happen.
    fn block(has_cancun: bool, frames: Vec<Frame>) -> Block {
        let stranger = Some(Address::repeat_byte(1));
        let mut block = Block { number: 5, ..Block::default() };
        block.header.parent_beacon_block_root = has_cancun.then_some(B256::ZERO);
        block.header.miner = Some(Address::repeat_byte(2));
        block.txs = vec![Tx { from: stranger, to: stranger, ..Tx::default() }];
        block.receipts = vec![Some(Receipt { status: Some(1), ..Receipt::default() })];
        block.traces = Some(vec![frames]);
        block
    }

    fn explains(has_cancun: bool, frames: Vec<Frame>) -> (u64, u64) {
        let eth = ChainTable::builtin().unwrap().get(ChainId(1)).unwrap().clone();
        let sum = explained(&block(has_cancun, frames), WALLET, &eth).unwrap();
        (sum.received.to(), sum.spent.to())
    }

    #[test]
    fn a_self_destruct_gives_the_balance_to_its_heir() {
        use FrameKind::{Call, Create, SelfDestruct};
        let to_other = || frame(SelfDestruct, WALLET, OTHER, 10);
        let from_other = || frame(SelfDestruct, OTHER, WALLET, 10);
        let to_itself = || frame(SelfDestruct, WALLET, WALLET, 10);
        let born = || frame(Create, OTHER, WALLET, 10);
        let later = || frame(Call, OTHER, WALLET, 3);
        for has_cancun in [false, true] {
            assert_eq!(explains(has_cancun, vec![to_other()]), (0, 10));
            assert_eq!(explains(has_cancun, vec![from_other()]), (10, 0));
            // Made in the same transaction: gone with all that comes later.
            assert_eq!(explains(has_cancun, vec![born(), to_other()]), (10, 10));
            assert_eq!(explains(has_cancun, vec![born(), to_itself()]), (10, 10));
            assert_eq!(explains(has_cancun, vec![born(), to_other(), later()]), (13, 13));
        }
        // To itself it burns, until Cancun; since then nothing happens to a contract that was there.
        assert_eq!(explains(false, vec![to_itself()]), (0, 10));
        assert_eq!(explains(true, vec![to_itself()]), (0, 0));
        assert_eq!(explains(false, vec![to_other(), later()]), (3, 13));
        assert_eq!(explains(true, vec![to_other(), later()]), (3, 10));
    }

    #[test]
    fn only_what_stands_moves() {
        use FrameKind::{Call, CallCode, DelegateCall};
        let failed = Frame { error: Some("out of gas".into()), ..frame(Call, OTHER, WALLET, 5) };
        let undone = Frame { undone: true, ..frame(Call, OTHER, WALLET, 5) };
        let borrowed = [DelegateCall, CallCode].map(|kind| frame(kind, WALLET, OTHER, 5));
        let [delegate, code] = borrowed;
        assert_eq!(explains(true, vec![failed, undone, delegate, code]), (0, 0));
        let around = vec![frame(Call, WALLET, WALLET, 5), frame(Call, WALLET, OTHER, 2)];
        assert_eq!(explains(true, around), (5, 7));
    }
}
