"""The official Python SDK asks what tokens cost."""
import json
import os
import unittest

import openapi_evm_api
from moralis import evm_api
from openapi_evm_api import ApiException

URL, KEY = os.environ["HEADWATER_URL"], os.environ["HEADWATER_KEY"]
TOKEN, WETH = "0x00000000000000000000000000000000000abcde", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
SUSHI = "0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac"

openapi_evm_api.Configuration.get_host_settings = lambda self: [{"url": f"{URL}/api/v2.2"}]


def price(**params):
    return evm_api.token.get_token_price(api_key=KEY, params={"address": TOKEN, "chain": "eth", **params})


class GetTokenPrice(unittest.TestCase):
    def test_the_price_now(self):
        answer = price()
        self.assertEqual((answer["usdPrice"], answer["usdPriceFormatted"]), (7.5, "7.5"))
        self.assertEqual((answer["tokenName"], answer["tokenSymbol"], answer["tokenDecimals"]), ("Trial Token", "TRY", "9"))
        self.assertEqual(answer["nativePrice"]["value"], "3000000000000000")
        self.assertIs(type(answer["nativePrice"]["decimals"]), int)

    def test_every_parameter_at_once(self):
        answer = price(chain="0x1", exchange="uniswapv2", to_block=7, include="percent_change")
        self.assertEqual((answer["24hrPercentChange"], answer["toBlock"]), ("50", "7"))

    def test_older_blocks_and_one_exchange(self):
        self.assertEqual(price(to_block=3)["usdPriceFormatted"], "5")
        self.assertEqual(price(to_block=1_000_000)["toBlock"], "7")
        self.assertEqual(price(to_block=3, exchange="sushiswapv2")["usdPriceFormatted"], "5.05")
        self.assertEqual(price(to_block=3, exchange=SUSHI)["usdPriceFormatted"], "5.05")

    def test_mixed_case_addresses(self):
        self.assertEqual(price(address=WETH)["usdPriceFormatted"], "2500")

    def refused(self, status, words, **params):
        with self.assertRaises(ApiException) as caught:
            price(**params)
        self.assertEqual(caught.exception.status, status)
        self.assertIn(words, json.loads(caught.exception.body)["message"])

    def test_errors(self):
        self.refused(400, "not on eth", exchange="mm finance")
        self.refused(400, "is not a valid hex address", address="0x12")
        self.refused(404, "No pools found with enough liquidity", exchange="uniswapv3")
        self.refused(404, "is not a token", address="0x" + "00" * 18 + "bade")


if __name__ == "__main__":
    unittest.main()
