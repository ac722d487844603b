# tools: shop
# expect: missing-argument line 4
# says: target
print(convert(amount=3.5, source="EUR"))
