# tools: shop
# kind: a key of one alternative only
# expect: missing-key line 5
for order in list_orders(customer_id=1):
    print(order["order_id"], order["payment"]["due_date"])
