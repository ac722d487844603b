# tools: shop
# expect: undefined-name line 6
# says: warehouses
warehouses = list_warehouses()
for w in warehouses:
    print(len(warehouse))
