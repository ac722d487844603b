# tools: shop
# expect: none
seen = seen_price(sku="AB-1234")
print(seen["unit"], seen["discount"], seen.get("old_price"))
