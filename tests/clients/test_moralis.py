"""The official Python SDK, unchanged but for the address it talks to; and the interface's own wire
profile, whose integers of any size Python reads exactly."""
import json
import unittest
import urllib.error
import urllib.parse
import urllib.request

import openapi_evm_api
from moralis import evm_api
from openapi_evm_api import ApiException

from expected import EXPECTED, KEY, URL, known, without_internal

openapi_evm_api.Configuration.get_host_settings = lambda self: [{"url": f"{URL}/api/v2.2"}]

WALLETS, BUSIEST, BLOCKS = EXPECTED["wallets"], EXPECTED["busiest"], EXPECTED["blocks"]


def get(key=KEY, **params):
    return evm_api.transaction.get_wallet_transactions(api_key=key, params={"chain": "eth", **params})


def every_row(**params):
    rows, cursor, page = [], None, 0
    while True:
        answer = get(**params, **({"cursor": cursor} if cursor else {}))
        assert answer["page"] == page, answer["page"]
        rows += map(known, answer["result"])
        cursor, page = answer["cursor"], page + 1
        if not cursor:
            return rows


class GetWalletTransactions(unittest.TestCase):
    maxDiff = None

    def test_every_wallet_newest_first(self):
        for address, wallet in WALLETS.items():
            self.assertEqual(every_row(address=address), without_internal(wallet["direct"]), address)

    def test_internal_transactions(self):
        for address, wallet in WALLETS.items():
            self.assertEqual(every_row(address=address, include="internal_transactions"), wallet["all"], address)

    def test_pages_of_several_sizes_in_both_orders(self):
        expected = without_internal(WALLETS[BUSIEST]["direct"])
        for limit in (1, 3, 100):
            self.assertEqual(every_row(address=BUSIEST, limit=limit), expected)
            self.assertEqual(every_row(address=BUSIEST, limit=limit, order="ASC"), expected[::-1])

    def test_every_parameter_at_once(self):
        rows = every_row(
            address=BUSIEST, chain="0x1", from_block=3, to_block=25, from_date="2031-01-01", to_date="2001-01-01",
            limit=4, order="ASC", include="internal_transactions",
        )
        self.assertEqual(rows, [row for row in WALLETS[BUSIEST]["all"] if 3 <= row["block_number"] <= 25][::-1])

    def test_dates_in_seconds(self):
        rows = every_row(address=BUSIEST, from_date=str(BLOCKS[6]["timestamp"]), to_date=str(BLOCKS[20]["timestamp"]))
        self.assertEqual(rows, [row for row in without_internal(WALLETS[BUSIEST]["direct"]) if 6 <= row["block_number"] <= 20])

    def test_address_in_any_case_and_default_chain(self):
        shouted = "0x" + BUSIEST[2:].upper()
        answer = evm_api.transaction.get_wallet_transactions(api_key=KEY, params={"address": shouted})
        self.assertEqual([row["hash"] for row in answer["result"]], [row["hash"] for row in WALLETS[BUSIEST]["direct"]][:100])

    def test_empty_wallet(self):
        answer = get(address="0x" + "00" * 19 + "aa")
        self.assertEqual((answer["result"], answer["cursor"]), ([], None))

    def refused(self, status, *words, **params):
        with self.assertRaises(ApiException) as caught:
            get(**{"address": BUSIEST, **params})
        self.assertEqual(caught.exception.status, status)
        message = json.loads(caught.exception.body)["message"]
        for word in words:
            self.assertIn(word, message)

    def test_errors(self):
        self.refused(401, key="wrong-key-wrong-key-wrong-key")
        self.refused(400, "0x1234", address="0x1234")
        self.refused(400, "limit", limit=0)
        self.refused(400, "cursor", cursor="nonsense")
        self.refused(400, "from_date", from_date="the day before")
        self.refused(400, chain="polygon")


class SpecProfile(unittest.TestCase):
    """Without a header of an SDK, answers are as the interface's tables write them."""

    def page(self, address, **params):
        query = urllib.parse.urlencode(params)
        request = urllib.request.Request(f"{URL}/api/v2.2/{address}?{query}", headers={"X-API-Key": KEY})
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def test_numbers_are_exact_integers_and_totals_exact(self):
        for address, wallet in WALLETS.items():
            for include, rows in (({}, without_internal(wallet["direct"])), ({"include": "internal_transactions"}, wallet["all"])):
                answer = self.page(address, limit=500, **include)
                self.assertEqual(list(map(known, answer["result"])), rows)
                self.assertEqual((answer["total"], answer["page"], answer["page_size"], answer["cursor"]), (str(len(rows)), "0", "500", ""))
                for row in answer["result"]:
                    for name in ("nonce", "transaction_index", "value", "gas", "gas_price", "receipt_gas_used", "receipt_cumulative_gas_used", "block_number"):
                        self.assertIs(type(row[name]), int, name)

    def test_total_of_a_range(self):
        rows = [row for row in WALLETS[BUSIEST]["direct"] if 5 <= row["block_number"] <= 17]
        answer = self.page(BUSIEST, from_block=5, to_block=17, limit=1)
        self.assertEqual(answer["total"], str(len(rows)))

    def test_a_missing_key_is_refused(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{URL}/api/v2.2/{BUSIEST}")
        self.assertEqual(caught.exception.code, 401)


if __name__ == "__main__":
    unittest.main()
