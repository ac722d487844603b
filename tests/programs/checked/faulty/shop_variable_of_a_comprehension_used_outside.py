# tools: shop
# expect: undefined-name line 4
names = [w["city"] for w in list_warehouses()]
print(w["city"], names)
