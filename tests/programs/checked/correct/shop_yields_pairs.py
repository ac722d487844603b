# tools: shop
# expect: none
def pairs(orders):
    for o in orders:
        for line in o["lines"]:
            yield o["order_id"], line

for number, line in pairs(list_orders(customer_id=1)):
    print(number, line["sku"])
print(dict((n, l["quantity"]) for n, l in pairs(list_orders(customer_id=2))))
