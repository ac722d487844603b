# tools: shop
# expect: none
jobs = [("books", 10), ("games", 20.5)]
for category, price in jobs:
    print(search_products(query="x", category=category, max_price=price)["total"])
for options in [{"limit": 5}, {"category": "tools"}, {}]:
    print(search_products(query="x", **options)["total"])
args = dict(query="go", limit=3)
args["category"] = "games"
print(search_products(**args)["items"][0]["sku"])
