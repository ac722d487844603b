# tools: shop
# expect: missing-key line 5
# says: street, city, country
order = get_order(order_id=1)
print(order["shipping"]["address"]["zip"])
