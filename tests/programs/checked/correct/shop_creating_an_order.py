# tools: shop
# expect: none
lines = [{"sku": p["sku"], "quantity": 1} for p in search_products(query="go")["items"] if p["stock"] > 0]
order = create_order(customer_id=1, lines=lines, labels=["fragile", "gift"], gift=True)
print(order["order_id"], order["totals"]["EUR"] + 1)
