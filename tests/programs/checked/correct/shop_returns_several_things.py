# tools: shop
# expect: none
def extremes(items):
    ordered = sorted(items, key=lambda p: p["price"])
    return ordered[0], ordered[-1], {"count": len(ordered)}

low, high, info = extremes(search_products(query="go")["items"])
print(low["title"], high["title"], info["count"])
