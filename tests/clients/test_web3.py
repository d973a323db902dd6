"""web3.py on the node host: each answer must be what the node itself says."""
import unittest

from web3 import Web3
from web3.exceptions import BlockNotFound, TransactionNotFound

from expected import EXPECTED, KEY, URL

OURS = Web3(Web3.HTTPProvider(f"{URL}/eth/{KEY}"))
NODE = Web3(Web3.HTTPProvider(EXPECTED["node"]))
BLOCKS = EXPECTED["blocks"]


class NodeRpc(unittest.TestCase):
    maxDiff = None

    def test_connects(self):
        self.assertTrue(OURS.is_connected())
        self.assertEqual(OURS.eth.chain_id, 1)
        self.assertEqual(OURS.eth.block_number, len(BLOCKS) - 1)

    def test_blocks_by_hash_with_and_without_transactions(self):
        for block in BLOCKS:
            for full in (False, True):
                found = OURS.eth.get_block(block["hash"], full)
                self.assertEqual(found, NODE.eth.get_block(block["hash"], full))
                self.assertEqual(found["number"], block["number"])

    def test_transactions_by_block_number_and_index(self):
        for block in BLOCKS:
            for index, sent in enumerate(block["transactions"]):
                found = OURS.eth.get_transaction_by_block(block["number"], index)
                self.assertEqual(found, NODE.eth.get_transaction_by_block(block["number"], index))
                self.assertEqual(found["hash"].to_0x_hex(), sent)

    def test_names_of_blocks(self):
        for name in ("latest", "earliest", "pending"):
            answers = [w3.provider.make_request("eth_getTransactionByBlockNumberAndIndex", [name, "0x0"])["result"] for w3 in (OURS, NODE)]
            self.assertEqual(*answers)

    def test_what_is_not_there(self):
        with self.assertRaises(BlockNotFound):
            OURS.eth.get_block("0x" + "ab" * 32)
        with self.assertRaises(TransactionNotFound):
            OURS.eth.get_transaction_by_block(1, 999)
        with self.assertRaises(TransactionNotFound):
            OURS.eth.get_transaction_by_block(10**6, 0)

    def test_batch(self):
        with OURS.batch_requests() as batch:
            for block in BLOCKS[:20]:
                batch.add(OURS.eth.get_block(block["hash"]))
            found = batch.execute()
        self.assertEqual([block["number"] for block in found], [block["number"] for block in BLOCKS[:20]])


if __name__ == "__main__":
    unittest.main()
