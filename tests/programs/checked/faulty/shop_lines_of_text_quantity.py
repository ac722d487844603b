# tools: shop
# expect: wrong-argument-type line 5
counts = {"AB-1234": "2", "AB-1235": "1"}
lines = [{"sku": sku, "quantity": count} for sku, count in counts.items()]
print(create_order(customer_id=1, lines=lines)["order_id"])
