# tools: shop
# expect: missing-key line 6
# expect: missing-key line 7
# says: sku, quantity, unit_price
def label(line):
    return line["amount"] * line["unit_price"]
print([label(line) for line in get_order(order_id=1)["lines"]], get_product(sku="AB-1234")["seller"]["first_name"])
