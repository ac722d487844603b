# tools: shop
# expect: unhashable line 4
# says: ['code']
print({w: w["capacity"] for w in list_warehouses()})
