"""The official Python SDK's two NFT operations, unchanged but for the address it talks to; and the
interface's own wire profile."""
import json
import unittest
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime

import openapi_evm_api
from moralis import evm_api
from openapi_evm_api import ApiException

from expected import EXPECTED, KEY, URL

openapi_evm_api.Configuration.get_host_settings = lambda self: [{"url": f"{URL}/api/v2.2"}]

TRADES, BLOCKS = EXPECTED["trades"], EXPECTED["blocks"]
APES = max(TRADES, key=lambda address: len(TRADES[address]))
STRANGER = "0x" + "00" * 19 + "aa"
OURS = ("marketplace", "token_quantities", "mixed_order", "reconciled")
IN_COIN = ("0x" + "00" * 20, "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2")
DAY = 86_400


def get(**params):
    return evm_api.nft.get_nft_trades(api_key=KEY, params={"chain": "eth", **params})


def get_lowest(**params):
    return evm_api.nft.get_nft_lowest_price(api_key=KEY, params={"chain": "eth", **params})


def known(row):
    """Of an answered row, what the sender knows."""
    return {name: value for name, value in row.items() if name not in OURS}


def rows(trades):
    return [trade["row"] for trade in trades]


def every_row(**params):
    found, cursor, page = [], None, 0
    while True:
        answer = get(**params, **({"cursor": cursor} if cursor else {}))
        assert answer["page"] == page, answer["page"]
        found += map(known, answer["result"])
        cursor, page = answer["cursor"], page + 1
        if not cursor:
            return found


def seconds(row):
    return datetime.fromisoformat(row["block_timestamp"].replace("Z", "+00:00")).timestamp()


def lowest(trades, days):
    since = BLOCKS[-1]["timestamp"] - days * DAY
    counted = [row for row in rows(trades) if row["price_token_address"] in IN_COIN and seconds(row) >= since]
    # Newest first, so of equal prices the last is the oldest.
    return min(reversed(counted), key=lambda row: int(row["price"]), default=None)


class Refusals(unittest.TestCase):
    maxDiff = None

    def refused(self, ask, status, *words, **params):
        with self.assertRaises(ApiException) as caught:
            ask(**{"address": APES, **params})
        self.assertEqual(caught.exception.status, status)
        message = json.loads(caught.exception.body)["message"]
        for word in words:
            self.assertIn(word, message)


class GetNftTrades(Refusals):
    def test_every_contract_in_pages_of_several_sizes(self):
        for address, trades in TRADES.items():
            for limit in (1, 3, 100):
                self.assertEqual(every_row(address=address, limit=limit), rows(trades))

    def test_every_parameter_at_once(self):
        found = every_row(
            address=APES, chain="0x1", from_block=8, to_block="24", from_date="2031-01-01", to_date="2001-01-01",
            marketplace="opensea", limit=2, nft_metadata=True,
        )
        inside = [t for t in TRADES[APES] if 8 <= int(t["row"]["block_number"]) <= 24 and t["market"] == "opensea"]
        self.assertTrue(inside)
        self.assertEqual(found, rows(inside))

    def test_dates_in_seconds(self):
        found = every_row(address=APES, from_date=str(BLOCKS[8]["timestamp"]), to_date=str(BLOCKS[24]["timestamp"]))
        self.assertEqual(found, [row for row in rows(TRADES[APES]) if 8 <= int(row["block_number"]) <= 24])

    def test_address_in_any_case_and_default_chain(self):
        answer = evm_api.nft.get_nft_trades(api_key=KEY, params={"address": "0x" + APES[2:].upper()})
        self.assertEqual(list(map(known, answer["result"])), rows(TRADES[APES])[:100])

    def test_empty(self):
        answer = get(address=STRANGER)
        self.assertEqual((answer["result"], answer["cursor"]), ([], None))

    def test_errors(self):
        self.refused(get, 400, "0x1234", address="0x1234")
        self.refused(get, 400, "limit", limit=0)
        self.refused(get, 400, "cursor", cursor="nonsense")
        self.refused(get, 400, "to_block", to_block="latest")
        self.refused(get, 400, "from_date", from_date="the day before")
        self.refused(get, 400, chain="polygon")


class GetNftLowestPrice(Refusals):
    def test_days_and_marketplaces(self):
        found = 0
        for address, trades in TRADES.items():
            for days in (None, 1, 2, 4, 365):
                for market in (None, "opensea", "looksrare"):
                    own = [t for t in trades if market in (None, t["market"])]
                    params = {"address": address, **({"days": days} if days else {}), **({"marketplace": market} if market else {})}
                    expected = lowest(own, days or 7)
                    if expected is None:
                        self.refused(get_lowest, 404, **params)
                    else:
                        self.assertEqual(known(get_lowest(**params)), expected)
                        found += 1
        self.assertGreater(found, 10)

    def test_none_and_errors(self):
        self.refused(get_lowest, 404, "last 7 days", address=STRANGER)
        self.refused(get_lowest, 404, "last day", address=STRANGER, days=1)
        self.refused(get_lowest, 400, "days", days=366)
        self.refused(get_lowest, 400, "0x1234", address="0x1234")


class SpecProfile(unittest.TestCase):
    """Without a header of an SDK, answers are as the interface's tables write them."""

    maxDiff = None

    def ask(self, path, **params):
        query = urllib.parse.urlencode(params)
        request = urllib.request.Request(f"{URL}/api/v2.2/nft/{path}?{query}", headers={"X-API-Key": KEY})
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def as_tables_write(self, row):
        return {**row, "block_timestamp": row["block_timestamp"].removesuffix(".000Z"), "verified_collection": "false"}

    def test_trades(self):
        for address, trades in TRADES.items():
            answer = self.ask(f"{address}/trades", limit=500)
            self.assertEqual(answer, {"page": "0", "page_size": "500", "cursor": "", "result": [self.as_tables_write(row) for row in rows(trades)]})

    def test_lowest_price_without_three_fields(self):
        for address, trades in TRADES.items():
            expected = self.as_tables_write(lowest(trades, 365))
            for name in ("token_address", "price_token_address", "verified_collection"):
                del expected[name]
            self.assertEqual(self.ask(f"{address}/lowestprice", days=365), expected)

    def test_a_missing_key_is_refused(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{URL}/api/v2.2/nft/{APES}/trades")
        self.assertEqual(caught.exception.code, 401)


if __name__ == "__main__":
    unittest.main()
