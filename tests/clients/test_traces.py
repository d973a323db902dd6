"""Traces for OpenTelemetry: a real receiver of OTLP over HTTP reads them with the official protobuf definitions. They
hold together, hold no secret, and nobody waits for a receiver that is slow or away."""

import http.server
import json
import os
import queue
import re
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

NODE = os.environ["HEADWATER_NODE"]
BINARY = os.environ["HEADWATER_BIN"]
KEY = "trace-tests-0123456789abcdef0123456789abcdef"
NODE_SECRET, HOOK_SECRET, QUERY_SECRET = "node-path-5e37", "hook-path-71aa", "query-secret-93bc"
WALLET = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
CALLER_TRACE, CALLER_SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.put((self.path, dict(self.headers), body))
        if self.server.hangs.is_set():
            self.server.closing.wait()
        answer = self.server.answer(self, body)
        try:
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except BrokenPipeError:
            pass  # who asked is gone

    def log_message(self, *_):
        pass


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what comes."""
    daemon_threads = True

    def __init__(self, answer=lambda handler, body: b""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen, self.answer = queue.Queue(), answer
        self.hangs, self.closing = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.closing.set()
        self.shutdown()
        self.server_close()


def forward(_, body):
    """A node whose URL has a secret in its path."""
    return call(NODE, body)[1]


def call(url, body=None, headers=None, method=None):
    headers = {"content-type": "application/json", "x-api-key": KEY, **(headers or {})}
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def rpc(url, method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}).encode()
    return json.loads(call(url, body)[1])


class Server:
    def __init__(self, node, **settings):
        self.folder = tempfile.TemporaryDirectory()
        environment = {
            **os.environ, "HEADWATER__AUTH__BOOTSTRAP_KEY": KEY, "HEADWATER__RPC__POLL_MS": "100",
            "HEADWATER__LISTEN__DRAIN_NOTICE_MS": "0", "HEADWATER__LOG__FILTER": "trace",
            "HEADWATER__STREAMS__ALLOW_PRIVATE_TARGETS": '["127.0.0.0/8"]', **settings,
        }
        self.said = ""
        self.log = open(f"{self.folder.name}/log", "w+")
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", f"{self.folder.name}/data", "--rpc", f"eth={node}"],
            env=environment, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.url = re.search(r"(http:\S+)", self.process.stdout.readline())[1]

    def metric(self, name):
        found = re.findall(rf"^{name}(?:{{.*}})? (\d+)", call(f"{self.url}/metrics")[1].decode(), re.M)
        return sum(map(int, found))

    def stop(self):
        if self.process.poll() is not None:
            return self.process.returncode
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.seek(0)
        self.said = self.said or self.log.read()
        self.log.close()
        self.folder.cleanup()
        return code


def until(what, look, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.05)


class Traces(unittest.TestCase):
    def setUp(self):
        self.receiver, self.bodies, self.spans, self.resources = Receiver(), [], [], []
        self.addCleanup(self.receiver.close)

    def gather(self):
        """All spans that came so far."""
        while not self.receiver.seen.empty():
            path, headers, body = self.receiver.seen.get()
            self.assertEqual(path, "/base/v1/traces")
            self.assertEqual(headers["content-type"], "application/x-protobuf")
            request = ExportTraceServiceRequest()
            request.ParseFromString(body)
            self.assertEqual(request.SerializeToString(), body, "nothing in it is unknown to the definitions")
            self.bodies.append(body)
            for of_resource in request.resource_spans:
                self.resources.append(of_resource.resource)
                for scope in of_resource.scope_spans:
                    self.assertEqual(scope.scope.name, "headwater")
                    self.spans.extend(scope.spans)
        return self.spans

    def find(self, name, **attributes):
        """A span with this name and these attributes."""
        for span in self.gather():
            has = {it.key: it.value for it in span.attributes}
            if span.name == name and all(text(has.get(key.replace("__", "."))) == value for key, value in attributes.items()):
                return span
        return None

    def test_spans_of_every_kind_hold_together_and_hold_no_secret(self):
        node = Receiver(forward)
        self.addCleanup(node.close)
        hooks = Receiver(lambda *_: b"{}")
        self.addCleanup(hooks.close)
        server = Server(f"{node.url}/{NODE_SECRET}", HEADWATER__TELEMETRY__OTLP_URL=f"{self.receiver.url}/base/",
                        HEADWATER__TELEMETRY__SERVICE_NAME="chain data")
        self.addCleanup(server.stop)
        self.make_requests(server, hooks)

        asked = until("the caller's request", lambda: self.find("POST /{chain}/{key}", http__response__status_code=200, request__id="asked-1"))
        self.assertEqual((asked.trace_id.hex(), asked.parent_span_id.hex()), (CALLER_TRACE, CALLER_SPAN))
        self.assertEqual(asked.kind, Span.SPAN_KIND_SERVER)
        below = until("the node's call below it", lambda: next(
            (span for span in self.gather() if span.name == "eth_gasPrice" and span.parent_span_id == asked.span_id), None))
        self.assertEqual((below.trace_id.hex(), below.kind), (CALLER_TRACE, Span.SPAN_KIND_CLIENT))
        self.assertTrue(asked.start_time_unix_nano <= below.start_time_unix_nano <= below.end_time_unix_nano <= asked.end_time_unix_nano)
        commit = until("a commit", lambda: self.find("commit", headwater__chain="eth"))
        self.assertEqual(commit.kind, Span.SPAN_KIND_INTERNAL)
        hook = until("a webhook", lambda: self.find("webhook"))
        self.assertIn("127.0.0.1", text(next(it.value for it in hook.attributes if it.key == "server.address")))
        until("a request for a wallet", lambda: self.find("GET /api/v2.2/{address}"))
        self.assertIsNone(self.find("GET /api/v2.2/{address}", request__id="not-sampled"), "its caller does not record it")
        self.assertEqual(asked.status.code, Status.STATUS_CODE_UNSET)

        self.assertEqual(server.stop(), 0)
        self.gather()
        resource = {it.key: text(it.value) for it in self.resources[0].attributes}
        self.assertEqual(resource["service.name"], "chain data")
        self.assertRegex(resource["service.version"], r"^\d+\.\d+\.\d+")
        self.assertRegex(resource["service.instance.id"], r"^[0-9a-f]{32}$")
        self.check_ids()
        self.assertIn("TRACE", server.said)
        self.assertNotIn("otel.kind", server.said, "spans are no part of log lines")
        for secret in [KEY, NODE_SECRET, HOOK_SECRET, QUERY_SECRET, self.webhook_secret]:
            self.assertGreater(len(secret), 10)
            for body in self.bodies:
                self.assertFalse(secret.encode() in body, secret)

    def make_requests(self, server, hooks):
        until("the first block", lambda: json.loads(call(f"{server.url}/status")[1])["chains"]["eth"]["head"])
        settings = json.loads(call(f"{server.url}/settings")[1])
        self.webhook_secret = settings["secretKey"]
        stream = {"webhookUrl": f"{hooks.url}/{HOOK_SECRET}", "description": "all", "tag": "all", "chainIds": ["0x1"], "includeNativeTxs": True}
        status, body = call(f"{server.url}/streams/evm", json.dumps(stream).encode(), method="PUT")
        self.assertEqual(status, 200, body)
        address = json.dumps({"address": WALLET}).encode()
        self.assertEqual(call(f"{server.url}/streams/evm/{json.loads(body)['id']}/address", address)[0], 200)
        rpc(NODE, "eth_sendTransaction", {"from": WALLET, "to": WALLET, "value": "0x1"})
        rpc(NODE, "evm_mine")
        headers = {"traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-01", "x-request-id": "asked-1"}
        gas = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_gasPrice", "params": []}).encode()
        self.assertIn(b"result", call(f"{server.url}/eth/{KEY}", gas, headers)[1])
        wallet = f"{server.url}/api/v2.2/{WALLET}?chain=eth&api_key={QUERY_SECRET}"
        call(wallet, headers={"traceparent": "not one"})
        call(wallet, headers={"traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-00", "x-request-id": "not-sampled"})
        for path in [f"/{KEY}", f"/eth/{KEY}/more", f"/nowhere/{KEY}?{QUERY_SECRET}"]:
            call(f"{server.url}{path}")

    def check_ids(self):
        ids = [span.span_id for span in self.spans]
        self.assertEqual(len(ids), len(set(ids)))
        for span in self.spans:
            self.assertEqual((len(span.trace_id), len(span.span_id)), (16, 8))
            self.assertTrue(any(span.trace_id) and any(span.span_id))
            self.assertLessEqual(span.start_time_unix_nano, span.end_time_unix_nano)

    def test_nobody_waits_for_a_receiver_that_hangs_or_is_away(self):
        self.receiver.hangs.set()
        for url in [self.receiver.url, "http://127.0.0.1:9"]:
            server = Server(NODE, HEADWATER__TELEMETRY__OTLP_URL=url)
            self.addCleanup(server.stop)
            until("the first block", lambda: json.loads(call(f"{server.url}/status")[1])["chains"]["eth"]["head"])
            # More than the queue holds: what finds no room is dropped, and every request is answered.
            batch = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}]).encode()
            asked = 0
            while server.metric("headwater_spans_dropped_total") == 0:
                for _ in range(200):
                    self.assertEqual(call(f"{server.url}/eth/{KEY}", batch)[0], 200)
                asked += 200
                self.assertLess(asked, 50_000)
            self.assertEqual(server.metric("headwater_spans_exported_total"), 0)
            self.assertEqual(call(f"{server.url}/health/ready")[0], 200)
            self.assertEqual(server.stop(), 0)

    def test_without_a_url_nothing_is_sent(self):
        server = Server(NODE)
        self.addCleanup(server.stop)
        call(f"{server.url}/health/live")
        self.assertNotIn("headwater_spans", call(f"{server.url}/metrics")[1].decode())
        self.assertEqual(server.stop(), 0)
        self.assertTrue(self.receiver.seen.empty())


def text(value):
    """An attribute's value in Python."""
    return None if value is None else getattr(value, value.WhichOneof("value"))


if __name__ == "__main__":
    unittest.main()
