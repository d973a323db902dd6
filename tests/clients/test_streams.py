"""The official Python SDK against the streams host, unchanged but for the address it talks to: every call it has, and
the webhooks that its docs say how to verify."""
import json
import os
import time
import unittest
import urllib.request

import openapi_streams
from moralis import streams
from openapi_streams import ApiException
from web3 import Web3

URL, KEY = os.environ["HEADWATER_URL"], os.environ["HEADWATER_KEY"]
NODE, RECEIVER = os.environ["HEADWATER_NODE"], os.environ["HEADWATER_RECEIVER"]
UNKNOWN = "0d653a7a-05da-4f4a-8eec-bca8725046cd"
ONE, TWO = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B", "0x00000000000000000000000000000000000000Aa"

openapi_streams.Configuration.get_host_settings = lambda self: [{"url": URL}]
evm = streams.evm_streams


def http(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.loads(response.read())


def rpc(method, *params):
    answer = http("POST", NODE, {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)})
    assert "error" not in answer, answer
    return answer["result"]


def seen(path):
    return http("GET", f"{RECEIVER}/seen?path={path}")


def until(what, look, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited too long for {what}")
        time.sleep(0.05)


def create(path, **more):
    body = {
        "webhookUrl": RECEIVER + path, "description": f"to {path}", "tag": path, "chainIds": ["0x1"],
        "includeNativeTxs": True, **more,
    }
    return evm.create_stream(api_key=KEY, body=body)


def pay(sender, recipient):
    transaction = rpc("eth_sendTransaction", {"from": sender, "to": recipient, "value": "0x7"})
    rpc("evm_mine")
    return transaction


class EvmStreams(unittest.TestCase):
    maxDiff = None

    def refused(self, status, says, call, *args, **named):
        with self.assertRaises(ApiException) as caught:
            call(*args, **named)
        self.assertEqual(caught.exception.status, status, caught.exception.body)
        self.assertIn(says, caught.exception.body.decode())

    def test_create_get_update_delete(self):
        stream = create(
            "/py/whole", topic0=None, allAddresses=False, includeContractLogs=True, includeInternalTxs=False, abi={},
            includeAllTxLogs=False, advancedOptions=None, triggers=None,
            getNativeBalances=[{"selectors": ["$fromAddress"], "type": "tx"}],
        )
        self.assertEqual((stream["abi"], stream["topic0"], stream["triggers"]), (None, None, []))
        self.assertEqual(stream["getNativeBalances"], [{"selectors": ["$fromAddress"], "type": "tx"}])
        self.assertEqual((stream["status"], stream["statusMessage"]), ("active", "Stream is active"))
        found = evm.get_stream(api_key=KEY, params={"id": stream["id"]})
        self.assertEqual(found, stream)
        changed = evm.update_stream(api_key=KEY, params={"id": stream["id"]}, body={"description": "another"})
        self.assertEqual({**changed, "updatedAt": 0}, {**stream, "description": "another", "updatedAt": 0})
        one_object = {"abi": {"type": "event", "name": "E", "inputs": [{"name": "a", "type": "uint256", "indexed": False}]}}
        changed = evm.update_stream(api_key=KEY, params={"id": stream["id"]}, body=one_object)
        self.assertEqual([item["name"] for item in changed["abi"]], ["E"])
        paused = evm.update_stream_status(api_key=KEY, params={"id": stream["id"]}, body={"status": "paused"})
        self.assertEqual((paused["status"], paused["statusMessage"]), ("paused", "Stream was paused by the user"))
        gone = evm.delete_stream(api_key=KEY, params={"id": stream["id"]})
        self.assertEqual(gone["id"], stream["id"])
        self.refused(404, "Stream not found", evm.get_stream, api_key=KEY, params={"id": stream["id"]})

    def test_lists_page_to_the_end(self):
        made = sorted(create(f"/py/list/{n}")["id"] for n in range(3))
        found, cursor = [], None
        while True:
            page = evm.get_streams(api_key=KEY, params={"limit": 2, **({"cursor": cursor} if cursor else {})})
            found += [stream["id"] for stream in page["result"]]
            self.assertEqual(page["total"], 3)
            cursor = page.get("cursor")
            if not cursor:
                break
        self.assertEqual(sorted(found), made)
        self.assertEqual(len(evm.get_streams(api_key=KEY, params={"limit": 10.0})["result"]), 3)
        self.refused(422, "should be a whole number from 1 to 100", evm.get_streams, api_key=KEY, params={"limit": 0})
        for id in made:
            evm.delete_stream(api_key=KEY, params={"id": id})

    def test_addresses(self):
        id = create("/py/addresses")["id"]
        one = evm.add_address_to_stream(api_key=KEY, params={"id": id}, body={"address": ONE})
        self.assertEqual((one["streamId"], one["address"]), (id, ONE))
        two = evm.add_address_to_stream(api_key=KEY, params={"id": id}, body={"address": [ONE.lower(), TWO]})
        self.assertEqual(two["address"], [ONE.lower(), TWO])
        page = evm.get_addresses(api_key=KEY, params={"id": id, "limit": 1})
        self.assertEqual((page["result"], page["total"]), ([{"address": TWO.lower()}], 2))
        page = evm.get_addresses(api_key=KEY, params={"id": id, "limit": 1, "cursor": page["cursor"]})
        self.assertEqual(page["result"], [{"address": ONE.lower()}])
        self.assertNotIn("cursor", page)
        gone = evm.delete_address_from_stream(api_key=KEY, params={"id": id}, body={"address": TWO})
        self.assertEqual(gone["address"], TWO)
        self.refused(
            404, "Address not found", evm.delete_address_from_stream, api_key=KEY, params={"id": id}, body={"address": TWO}
        )
        evm.delete_stream(api_key=KEY, params={"id": id})

    def test_refusals(self):
        self.refused(400, f"Could not POST to {RECEIVER}/refuse.", create, "/refuse")
        self.refused(400, "", create, "/py/none", includeNativeTxs=False)
        self.refused(404, "Stream not found", evm.get_stream, api_key=KEY, params={"id": UNKNOWN})
        self.refused(401, "invalid token", evm.get_streams, api_key="wrong", params={"limit": 1})
        self.refused(404, "Stat not found", streams.stats.get_stats_by_stream_id, api_key=KEY, params={"streamId": UNKNOWN})

    def test_settings(self):
        before = streams.project.get_settings(api_key=KEY)
        after = streams.project.set_settings(api_key=KEY, body={"region": "ap-southeast-1"})
        self.assertEqual(after, {"region": "ap-southeast-1", "secretKey": before["secretKey"]})
        self.assertEqual(streams.project.get_settings(api_key=KEY), after)

    def test_history_logs_stats_and_signatures(self):
        """The signature as the SDK's docs make it: over the raw body."""
        sender, recipient = rpc("eth_accounts")[:2]
        path = "/py/failing"
        id = create(path)["id"]
        evm.add_address_to_stream(api_key=KEY, params={"id": id}, body={"address": sender})
        http("PUT", f"{RECEIVER}/answers", {path: 503})
        transactions = [pay(sender, recipient) for _ in range(2)]
        history = lambda **more: streams.history.get_history(api_key=KEY, params={"limit": 100, **more})
        until("two failures", lambda: len(history()["result"]) == 2)
        rows = history()["result"][::-1]
        deliveries = seen(path)
        secret = streams.project.get_settings(api_key=KEY)["secretKey"]
        for row, delivery, transaction in zip(rows, deliveries, transactions, strict=True):
            signature = Web3.keccak(text=delivery["text"] + secret).hex().removeprefix("0x")
            self.assertEqual(delivery["headers"]["x-signature"], "0x" + signature)
            self.assertEqual((row["streamId"], row["tag"], row["payload"]), (id, path, delivery["body"]))
            self.assertEqual([tx["hash"] for tx in row["payload"]["txs"]], [transaction])
            self.assertEqual(row["tinyPayload"]["records"], 1)
        self.assertTrue(all("payload" not in row for row in history(excludePayload=True)["result"]))
        http("PUT", f"{RECEIVER}/answers", {path: 200})
        taken = streams.history.replay_history(api_key=KEY, params={"streamId": id, "id": rows[0]["id"]})
        self.assertEqual(taken["id"], rows[0]["id"])
        until("the replay", lambda: len(seen(path)) == 3)
        until("the history without it", lambda: [row["id"] for row in history()["result"]] == [rows[1]["id"]])
        self.refused(
            404, "History not found", streams.history.replay_history, api_key=KEY, params={"streamId": id, "id": UNKNOWN}
        )
        logs = streams.logs.get_logs(api_key=KEY, params={"limit": 100})["result"]
        self.assertEqual([row["deliveryStatus"] for row in logs if row["streamId"] == id], ["success", "failed", "failed"])
        one = streams.stats.get_stats_by_stream_id(api_key=KEY, params={"streamId": id})
        self.assertEqual((one["totalWebhooksDelivered"], one["totalWebhooksFailed"]), (1, 2))
        self.assertIn(one, streams.stats.get_stats(api_key=KEY)["streams"])
        evm.delete_stream(api_key=KEY, params={"id": id})


if __name__ == "__main__":
    unittest.main()
