# tools: shop
# expect: positional-argument line 5
rows = [(5, "EUR", "USD"), (6, "EUR", "CHF")]
for row in rows:
    print(convert(*row))
