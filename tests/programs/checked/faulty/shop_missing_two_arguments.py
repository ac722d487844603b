# tools: shop
# expect: missing-argument line 4
# says: source, target
print(convert(amount=3.5))
