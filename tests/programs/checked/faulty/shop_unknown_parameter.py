# tools: shop
# expect: unknown-argument line 7
def total(order, digits=2):
    return round(sum(l["quantity"] * l["unit_price"] for l in order["lines"]), digits)


print(total(get_order(order_id=1), places=1))
