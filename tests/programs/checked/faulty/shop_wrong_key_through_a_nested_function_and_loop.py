# tools: shop
# expect: missing-key line 5
def totals(orders):
    for order in orders:
        yield order["order_id"], sum(l["quantity"] * l["cost"] for l in order["lines"])

print(dict(totals(list_orders(customer_id=1))))
