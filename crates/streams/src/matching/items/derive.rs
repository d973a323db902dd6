//! Reads token transfers and approvals out of a webhook's logs.
//!
//! ERC20 and ERC721 share their events' names; the number of indexed fields tells them apart. What cannot be
//! read (an older layout with nothing indexed, words that are no addresses) is some contract's own event and
//! stands in the logs alone.

use alloy_primitives::{Address, B256, U256, b256};
use model::abi::{TRANSFER, Words, address, boolean};

use super::{
    Erc20Approval, Erc20Transfer, Items, LogItem, LogOrigin, NftApproval, NftStandard, NftTransfer,
    TriggerResults,
};

/// `Approval(address,address,uint256)`
const APPROVAL: B256 = b256!("8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925");
/// `ApprovalForAll(address,address,bool)`
const APPROVAL_FOR_ALL: B256 =
    b256!("17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31");
/// `TransferSingle(address,address,address,uint256,uint256)`
const SINGLE: B256 = b256!("c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62");
/// `TransferBatch(address,address,address,uint256[],uint256[])`
const BATCH: B256 = b256!("4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb");

impl Items {
    /// Adds what one of its logs tells, if anything. Logs come in their order.
    pub(super) fn derive(&mut self, place: usize, log: &LogItem) {
        let Some(topic) = log.topics.first() else { return };
        let origin = || LogOrigin {
            log: place,
            transaction_hash: log.transaction_hash,
            log_index: log.log_index,
            contract: log.address,
            triggered_by: log.triggered_by.clone(),
            possible_spam: log.possible_spam,
        };
        // Nothing to read is no failure here.
        let _ = match *topic {
            TRANSFER => self.transfer(log, origin),
            APPROVAL => self.approval(log, origin),
            APPROVAL_FOR_ALL => self.approval_for_all(log, origin),
            SINGLE | BATCH => self.erc1155(log, origin),
            _ => None,
        };
    }

    fn transfer(&mut self, log: &LogItem, origin: impl Fn() -> LogOrigin) -> Option<()> {
        match log.topics.as_slice() {
            [_, from, to] => self.erc20_transfers.push(Erc20Transfer {
                from: address(*from)?,
                to: address(*to)?,
                value: Words(&log.data).uint(0)?,
                origin: origin(),
                triggers: TriggerResults::default(),
            }),
            [_, from, to, id] => self.nft_transfers.push(NftTransfer {
                operator: None,
                from: address(*from)?,
                to: address(*to)?,
                token_id: (*id).into(),
                amount: U256::ONE,
                standard: NftStandard::Erc721,
                origin: origin(),
                triggers: TriggerResults::default(),
            }),
            _ => return None,
        }
        Some(())
    }

    fn approval(&mut self, log: &LogItem, origin: impl Fn() -> LogOrigin) -> Option<()> {
        match log.topics.as_slice() {
            [_, owner, spender] => self.erc20_approvals.push(Erc20Approval {
                owner: address(*owner)?,
                spender: address(*spender)?,
                value: Words(&log.data).uint(0)?,
                origin: origin(),
                triggers: TriggerResults::default(),
            }),
            [_, owner, approved, id] => self.nft_approvals.push(NftApproval {
                account: address(*owner)?,
                operator: address(*approved)?,
                approved_all: false,
                token_id: Some((*id).into()),
                origin: origin(),
            }),
            _ => return None,
        }
        Some(())
    }

    fn approval_for_all(&mut self, log: &LogItem, origin: impl Fn() -> LogOrigin) -> Option<()> {
        let [_, account, operator] = log.topics.as_slice() else { return None };
        self.nft_approvals.push(NftApproval {
            account: address(*account)?,
            operator: address(*operator)?,
            approved_all: boolean(Words(&log.data).hash(0)?)?,
            token_id: None,
            origin: origin(),
        });
        Some(())
    }

    /// One item for each id of a batch.
    fn erc1155(&mut self, log: &LogItem, origin: impl Fn() -> LogOrigin) -> Option<()> {
        let [topic, operator, from, to] = log.topics.as_slice() else { return None };
        let [operator, from, to]: [Option<Address>; 3] = [*operator, *from, *to].map(address);
        let (operator, from, to) = (operator?, from?, to?);
        let data = Words(&log.data);
        let moved: Vec<(U256, U256)> = if *topic == SINGLE {
            vec![(data.uint(0)?, data.uint(1)?)]
        } else {
            data.uints(0)?.into_iter().zip(data.uints(1)?).collect()
        };
        for (token_id, amount) in moved {
            self.nft_transfers.push(NftTransfer {
                operator: Some(operator),
                from,
                to,
                token_id,
                amount,
                standard: NftStandard::Erc1155,
                origin: origin(),
                triggers: TriggerResults::default(),
            });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::keccak256;
    use model::abi::{joined, push_uint};

    #[test]
    fn events_go_by_the_hashes_of_their_signatures() {
        for (topic, signature) in [
            (APPROVAL, "Approval(address,address,uint256)"),
            (APPROVAL_FOR_ALL, "ApprovalForAll(address,address,bool)"),
            (SINGLE, "TransferSingle(address,address,address,uint256,uint256)"),
            (BATCH, "TransferBatch(address,address,address,uint256[],uint256[])"),
        ] {
            assert_eq!(topic, keccak256(signature));
        }
    }

    fn word(n: u64) -> B256 {
        U256::from(n).into()
    }

    fn read(topics: &[B256], data: Vec<u8>) -> Items {
        let mut items = Items::default();
        let log = LogItem { topics: topics.to_vec(), data: data.into(), ..LogItem::default() };
        items.derive(3, &log);
        items
    }

    /// erc20 transfers and approvals, NFT transfers and approvals.
    fn counts(items: &Items) -> [usize; 4] {
        [
            items.erc20_transfers.len(),
            items.erc20_approvals.len(),
            items.nft_transfers.len(),
            items.nft_approvals.len(),
        ]
    }

    #[test]
    fn the_number_of_indexed_fields_tells_the_standard() {
        let [a, b, c, d] = [1, 2, 3, 4].map(word);
        let wide = B256::repeat_byte(7);
        let one = joined(&[word(9)]);
        for (topics, data, expected) in [
            (&[TRANSFER, a, b][..], &one, [1, 0, 0, 0]),
            (&[TRANSFER, a, b, c], &vec![], [0, 0, 1, 0]),
            (&[TRANSFER, a, b, wide], &vec![], [0, 0, 1, 0]),
            (&[APPROVAL, a, b], &one, [0, 1, 0, 0]),
            (&[APPROVAL, a, b, c], &vec![], [0, 0, 0, 1]),
            (&[APPROVAL_FOR_ALL, a, b], &joined(&[word(1)]), [0, 0, 0, 1]),
            (&[SINGLE, a, b, c], &joined(&[word(5), word(6)]), [0, 0, 1, 0]),
            // Nothing indexed, no data, no address, no boolean, another event, no event.
            (&[TRANSFER], &joined(&[a, b, c]), [0; 4]),
            (&[TRANSFER, a, b], &vec![], [0; 4]),
            (&[TRANSFER, wide, b], &one, [0; 4]),
            (&[APPROVAL_FOR_ALL, a, b], &joined(&[word(2)]), [0; 4]),
            (&[SINGLE, a, b, c], &one, [0; 4]),
            (&[SINGLE, a, b], &joined(&[word(5), word(6)]), [0; 4]),
            (&[d], &one, [0; 4]),
            (&[], &one, [0; 4]),
        ] {
            assert_eq!(counts(&read(topics, data.clone())), expected, "{topics:?}");
        }
    }

    #[test]
    fn a_batch_is_one_transfer_for_each_id() {
        let mut data = Vec::new();
        for number in [64, 192, 3, 10, 11, 12, 3, 1, 2, 3] {
            push_uint(&mut data, number);
        }
        let items = read(&[BATCH, word(1), word(2), word(3)], data);
        let moved: Vec<_> = items.nft_transfers.iter().map(|it| (it.token_id, it.amount)).collect();
        let expected: Vec<_> =
            [(10, 1), (11, 2), (12, 3)].map(|(id, n)| (U256::from(id), U256::from(n))).to_vec();
        assert_eq!(moved, expected);
        let first = &items.nft_transfers[0];
        assert_eq!(first.operator, Some(Address::with_last_byte(1)));
        assert_eq!(
            (first.from, first.to),
            (Address::with_last_byte(2), Address::with_last_byte(3))
        );
        assert!(items.nft_transfers.iter().all(|it| it.origin.log == 3));
    }
}
