# tools: shop
# expect: none
# why: a boolean drives the pages loop, the walrus rebinding the page; seen prices may be null and are tested in a chained condition; a zero guess is kept from dividing
tags, n = [], 0
while (sheet := page_of_tags(page=(n := n + 1)))["more"]:
    tags.extend(sheet["tags"])
tags.extend(sheet["tags"])

gaps = {}
for tag in dict.fromkeys(tags):
    for item in search_products(query=tag, limit=5)["items"]:
        guess = guess_price(sku=item["sku"])["price"]
        seen = seen_price(sku=item["sku"])
        if seen["price"] is None or not guess:
            continue
        gaps[item["sku"]] = round(seen["price"] / guess - 1, 3)

if gaps:
    (low, *_), (*_, high) = sorted(gaps, key=gaps.get), sorted(gaps, key=gaps.get)
    print(f"{low}: {gaps[low]:+.1%}\n{high}: {gaps[high]:+.1%}")
log_event(payload={"kind": "gap", "count": len(gaps), "tags": tags[:3]})
print(f"{len(gaps)} compared, {len(tags) - len(set(tags))} tags twice")
