# tools: shop
# expect: none
# why: a union of two seller shapes told apart by mapping patterns; keys that only one of them has are bound by the pattern, not indexed
from collections import defaultdict


def label(seller: dict) -> str:
    match seller:
        case {"kind": "company", "name": name, "vat_id": vat}:
            return f"{name} ({vat[:2].upper() or '??'})"
        case {"kind": "person", **who}:
            return " ".join((who["first_name"], who["last_name"]))
    raise AssertionError("no third kind")


worth: defaultdict[str, float] = defaultdict(float)
arguments: dict = {"query": "garden", "limit": 100}
while True:
    page = search_products(**arguments)
    for item in page["items"]:
        worth[label(item["seller"])] += item["price"] * item["stock"]
    if not (cursor := page["next_cursor"]):
        break
    arguments["cursor"] = cursor

for name, value in sorted(worth.items(), key=lambda kv: (-kv[1], kv[0]))[:10]:
    print(f"{value:>12,.2f}  {name}")
