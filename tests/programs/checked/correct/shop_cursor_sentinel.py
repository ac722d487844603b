# tools: shop
# expect: none
def all_products(query, **options):
    page = search_products(query=query, **options)
    while True:
        for item in page["items"]:
            yield item
        if not page["next_cursor"]:
            return
        page = search_products(query=query, cursor=page["next_cursor"], **options)


rates = exchange_rates(base="EUR")
cheap, dear = [], []
for item in all_products("lamp", max_price=250, limit=100):
    bucket = cheap if item["price"] * rates.get("USD", 1.0) < 40 else dear
    bucket.append(item["sku"])
tags, page_number = set(), 1
while (page := page_of_tags(page=page_number))["more"] and page_number < 20:
    tags.update(t.lower() for t in page["tags"])
    page_number = page["page"] + 1
print(len(cheap), len(dear), len(tags), count_visits(day="2024-05-01") // 2, get_text(name="footer").upper()[:20])
