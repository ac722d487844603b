# tools: shop
# expect: positional-argument line 5
# says: source='EUR'
amount = 4
print(convert("EUR", amount=amount, target="USD"))
