# tools: shop
# expect: unknown-tool line 5
# says: get_customer
order = get_order(order_id=5)
print(fetch_customer_details(id=order["customer_id"]))
