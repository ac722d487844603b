# tools: shop
# expect: missing-key line 4
# says: code
print({w["id"]: w["city"] for w in list_warehouses()})
