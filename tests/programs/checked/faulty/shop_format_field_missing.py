# tools: shop
# expect: missing-key line 5
LINE = "{sku}: {count} at {price:.2f}"
for l in get_order(order_id=1)["lines"]:
    print(LINE.format(sku=l["sku"], quantity=l["quantity"], price=l["unit_price"]))
