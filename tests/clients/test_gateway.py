"""web3.py does a day's work through the gateway: logs, receipts, fees, calls, filters, sending and waiting."""
import threading
import time
import unittest

from web3 import Web3

from expected import EXPECTED, KEY, URL

OURS = Web3(Web3.HTTPProvider(f"{URL}/eth/{KEY}"))
NODE = Web3(Web3.HTTPProvider(EXPECTED["node"]))
# anvil's own second account, which nobody else here sends from.
SECRET = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"


class Mining(threading.Thread):
    """Has blocks mined while something is waited for."""

    def __enter__(self):
        self.stopped = threading.Event()
        self.start()

    def __exit__(self, *_):
        self.stopped.set()
        self.join()

    def run(self):
        while not self.stopped.is_set():
            NODE.provider.make_request("evm_mine", [])
            time.sleep(0.2)


class Gateway(unittest.TestCase):
    maxDiff = None

    def test_logs_and_receipts_are_the_nodes(self):
        last = EXPECTED["blocks"][-1]["number"]
        asked = {"fromBlock": 0, "toBlock": last}
        self.assertEqual(OURS.eth.get_logs(asked), NODE.eth.get_logs(asked))
        for block in EXPECTED["blocks"]:
            self.assertEqual(OURS.eth.get_block_receipts(block["number"]), NODE.eth.get_block_receipts(block["number"]))
            self.assertEqual(OURS.eth.get_block_transaction_count(block["number"]), len(block["transactions"]))
            for sent in block["transactions"]:
                self.assertEqual(OURS.eth.get_transaction(sent), NODE.eth.get_transaction(sent))
                self.assertEqual(OURS.eth.get_transaction_receipt(sent), NODE.eth.get_transaction_receipt(sent))

    def test_sends_and_waits(self):
        sender = OURS.eth.account.from_key(SECRET)
        changes = OURS.eth.filter("latest")
        transaction = {
            "from": sender.address, "to": sender.address, "value": 1, "chainId": OURS.eth.chain_id,
            "nonce": OURS.eth.get_transaction_count(sender.address), "gas": OURS.eth.estimate_gas({"from": sender.address, "to": sender.address, "value": 1}),
            "maxFeePerGas": 2 * OURS.eth.gas_price, "maxPriorityFeePerGas": OURS.eth.max_priority_fee,
        }
        signed = sender.sign_transaction(transaction)
        with Mining():
            sent = OURS.eth.send_raw_transaction(signed.raw_transaction)
            receipt = OURS.eth.wait_for_transaction_receipt(sent, timeout=60)
        self.assertEqual(receipt["status"], 1)
        self.assertGreaterEqual(OURS.eth.block_number, receipt["blockNumber"])
        seen = []
        for _ in range(300):
            seen += changes.get_new_entries()
            if receipt["blockHash"] in seen:
                break
            time.sleep(0.1)
        self.assertIn(receipt["blockHash"], seen)
        self.assertEqual(OURS.eth.get_balance(sender.address), NODE.eth.get_balance(sender.address))


if __name__ == "__main__":
    unittest.main()
