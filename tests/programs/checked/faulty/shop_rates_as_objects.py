# tools: shop
# kind: number of a map treated as object
# expect: not-an-object line 11
def cheapest_currency(sku, base="EUR"):
    price = guess_price(sku=sku)
    rates = exchange_rates(base=price["currency"])
    options = []
    for code, info in rates.items():
        if code == base:
            continue
        options.append((price["price"] * info["rate"], code))
    options.sort()
    return options[0] if options else (price["price"], price["currency"])


for sku in ("AB-1234", "XY-0042"):
    amount, code = cheapest_currency(sku)
    print(f"{sku}: {amount:,.2f} {code}")
