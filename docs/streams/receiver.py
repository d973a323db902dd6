"""A webhook receiver in Python without packages: checks who sent it, and that nothing was left out.

    SECRET=<secretKey of /settings> python3 receiver.py [port]
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["SECRET"].encode()
# Keep this on disk in earnest: it is what proves that nothing is missing.
digests = {0: "0x" + "0" * 64}


def is_ours(headers, body):
    try:
        age = abs(time.time() - int(headers["webhook-timestamp"]))
    except (TypeError, ValueError):
        return False
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    given = [it.removeprefix("v1,") for it in headers.get("webhook-signature", "").split()]
    return age < 300 and any(hmac.compare_digest(it, expected) for it in given)


def is_next(headers, body):
    """The digest covers the one before, the number, and the body as it was first sent."""
    sequence, before = int(headers["x-sequence"]), headers["x-previous-digest"]
    first = re.sub(rb',"retries":\d+,', b',"retries":0,', body, count=1)
    data = bytes.fromhex(before[2:]) + sequence.to_bytes(8, "big") + first
    digests[sequence] = "0x" + hashlib.sha256(data).hexdigest()
    known = digests.get(sequence - 1, before)
    return digests[sequence] == headers["x-digest"] and known == before


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        # The test call that every create and update makes has no number.
        numbered = "x-sequence" in self.headers
        if not is_ours(self.headers, body):
            self.send_response(401)
        elif numbered and not is_next(self.headers, body):
            self.send_response(409)
        else:
            payload = json.loads(body)
            told = {"sequence": int(self.headers.get("x-sequence", 0)), "block": payload["block"]["number"]}
            told |= {"confirmed": payload["confirmed"], "txs": len(payload["txs"]), "logs": len(payload["logs"])}
            print(json.dumps(told), flush=True)
            self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9090), Receiver)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
