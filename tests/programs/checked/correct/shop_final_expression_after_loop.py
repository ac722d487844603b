# tools: shop
# expect: none
rows = []
for w in list_warehouses():
    rows.append(f"{w['code']}: {w['city']}")
rows
