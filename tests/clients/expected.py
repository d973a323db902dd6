"""What the Python client tests must find; see expectations.mjs."""
import json
import os

URL = os.environ["HEADWATER_URL"]
KEY = os.environ["HEADWATER_KEY"]
with open(os.environ["HEADWATER_EXPECTATIONS"], encoding="utf-8") as file:
    EXPECTED = json.load(file)

NUMBERS = ("nonce", "transaction_index", "receipt_status", "block_number")
TEXTS = ("hash", "from_address", "to_address", "input", "receipt_contract_address", "block_hash", "block_timestamp")


def known(row):
    """Of an answered row, what the sender knows, in the form of the expectations."""
    out = {name: row[name] for name in TEXTS}
    out.update({name: None if row[name] is None else int(row[name]) for name in NUMBERS})
    out.update({name: str(row[name]) for name in ("value", "gas")})
    if "internal_transactions" in row:
        out["internal"] = [
            {"type": i["type"], "from": i["from"], "to": i["to"], "value": str(i["value"]), "failed": "error" in i}
            for i in row["internal_transactions"]
        ]
    return out


def without_internal(rows):
    return [{name: value for name, value in row.items() if name != "internal"} for row in rows]
