"""A client that openapi-python-client makes of /openapi.json, and real calls with it."""
import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request

URL, KEY = os.environ["HEADWATER_URL"], os.environ["HEADWATER_KEY"]
FOLDER = tempfile.TemporaryDirectory()


def generate():
    document, settings = f"{FOLDER.name}/openapi.json", f"{FOLDER.name}/settings.json"
    with urllib.request.urlopen(f"{URL}/openapi.json") as answer, open(document, "wb") as file:
        file.write(answer.read())
    with open(settings, "w", encoding="utf-8") as file:
        json.dump({"post_hooks": []}, file)
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--meta", "none",
         "--output-path", f"{FOLDER.name}/headwater_client", "--config", settings],
        capture_output=True, text=True, check=False)
    assert made.returncode == 0 and "arning" not in made.stdout + made.stderr, made.stdout + made.stderr
    sys.path.insert(0, FOLDER.name)


def module(name):
    return importlib.import_module(f"headwater_client.{name}")


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        generate()
        cls.client = module("client").AuthenticatedClient(base_url=URL, token=KEY, prefix="", auth_header_name="X-API-Key")

    def test_wallet_rows_are_read_page_by_page_in_both_profiles(self):
        ask = module("api.data.get_wallet_transactions").sync
        models = module("models")
        for word, page_class in (("SPEC", models.WalletPageSpec), ("LIVE", models.WalletPageLive)):
            profile = models.GetWalletTransactionsXWireProfile[word]
            asked = {"client": self.client, "chain": "demo", "to_block": 50, "limit": 2, "x_wire_profile": profile}
            first = ask(os.environ["WALLET"], **asked)
            self.assertIsInstance(first, page_class)
            self.assertEqual(len(first.result), 2)
            second = ask(os.environ["WALLET"], **asked, cursor=first.cursor)
            self.assertGreaterEqual(int(first.result[-1].block_number), int(second.result[0].block_number))
            self.assertNotIn(second.result[0].hash_, [row.hash_ for row in first.result])

    def test_trades_are_read(self):
        page = module("api.data.get_nft_trades").sync(os.environ["COLLECTION"], client=self.client, chain="demo", limit=3)
        self.assertEqual(len(page.result), 3)
        self.assertGreater(int(page.result[0].price), 0)

    def test_a_refusal_is_one(self):
        refused = module("api.data.get_wallet_transactions").sync("nobody", client=self.client, chain="demo")
        self.assertIsInstance(refused, module("models").Refusal)
        self.assertIn("nobody", refused.message)

    def test_streams_keys_and_status_are_read(self):
        stream = module("api.streams.get_stream").sync(os.environ["STREAM"], client=self.client)
        self.assertEqual(stream.status, "active")
        keys = module("api.admin.list_keys").sync(client=self.client)
        self.assertIsInstance(keys, list)
        status = module("api.operators.status").sync(client=self.client)
        self.assertIn("demo", status.chains.to_dict())


if __name__ == "__main__":
    unittest.main()
