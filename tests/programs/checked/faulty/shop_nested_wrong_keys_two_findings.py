# tools: shop
# expect: missing-key line 5
# expect: missing-key line 6
for order in list_orders(customer_id=1):
    print(order["shipping"]["adress"]["city"])
    print([line["price"] for line in order["lines"]])
