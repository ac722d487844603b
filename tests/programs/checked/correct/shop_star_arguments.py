# tools: shop
# expect: none
def total(*lines, **options):
    amount = sum(line["quantity"] * line["unit_price"] for line in lines)
    return amount * options.get("factor", 1)

order = get_order(order_id=1)
print(total(*order["lines"], factor=2), total(order["lines"][0]))
