# tools: shop
# expect: wrong-argument-type line 19
# fault: create_order's lines must be objects with sku and quantity; basket.items() gives tuples
from collections import Counter

basket = Counter()
cursor = None
while True:
    extra = {"cursor": cursor} if cursor else {}
    page = search_products(query="puzzle", category="games", max_price=15, **extra)
    for item in page["items"]:
        if item["stock"] > 10 and "family" in item["tags"]:
            basket[item["sku"]] += 1
    cursor = page["next_cursor"]
    if cursor is None:
        break

if basket:
    order = create_order(customer_id=42, lines=list(basket.items()), gift=True)
    print(order["order_id"], order["status"])
else:
    print("nothing to order")
