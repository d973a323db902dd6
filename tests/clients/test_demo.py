"""The official Python SDK on `headwater demo --as eth`, unchanged but for the address it talks to."""
import os
import unittest

import openapi_evm_api
import openapi_streams
from moralis import evm_api, streams

URL, KEY = os.environ["HEADWATER_URL"], os.environ["HEADWATER_KEY"]
WALLET, COLLECTION, TOKEN, STREAM = (os.environ[name] for name in ("WALLET", "COLLECTION", "TOKEN", "STREAM"))
openapi_evm_api.Configuration.get_host_settings = lambda self: [{"url": f"{URL}/api/v2.2"}]
openapi_streams.Configuration.get_host_settings = lambda self: [{"url": URL}]


class Demo(unittest.TestCase):
    def test_wallet(self):
        page = evm_api.transaction.get_wallet_transactions(api_key=KEY, params={"chain": "eth", "address": WALLET, "include": "internal_transactions", "limit": 3})
        self.assertEqual(len(page["result"]), 3)
        self.assertTrue(all(WALLET in (row["from_address"], row["to_address"]) or row["internal_transactions"] for row in page["result"]))

    def test_collection(self):
        trades = evm_api.nft.get_nft_trades(api_key=KEY, params={"chain": "eth", "address": COLLECTION, "limit": 100})["result"]
        lowest = evm_api.nft.get_nft_lowest_price(api_key=KEY, params={"chain": "eth", "address": COLLECTION, "days": 7})
        self.assertEqual(len(trades), 100)
        self.assertLessEqual(int(lowest["price"]), min(int(row["price"]) for row in trades))

    def test_price(self):
        price = evm_api.token.get_token_price(api_key=KEY, params={"chain": "eth", "address": TOKEN, "include": "percent_change"})
        self.assertEqual(price["tokenSymbol"], "RVR")
        self.assertTrue(1 < price["usdPrice"] < 3, price["usdPrice"])
        self.assertNotEqual(float(price["24hrPercentChange"]), 0)

    def test_stream(self):
        answer = streams.evm_streams.update_stream(api_key=KEY, params={"id": STREAM}, body={"description": "from Python"})
        self.assertEqual((answer["id"], answer["description"], answer["status"]), (STREAM, "from Python", "active"))


if __name__ == "__main__":
    unittest.main()
