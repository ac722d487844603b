# tools: shop
# expect: unknown-argument line 4
# says: it takes customer_id, status, since
print(list_orders(customer_id=4, page=2))
