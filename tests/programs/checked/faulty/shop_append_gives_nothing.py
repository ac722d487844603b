# tools: shop
# expect: none-value line 6
rows = []
for w in list_warehouses():
    rows = rows.append(w["city"]) or rows
print(rows.append("x")[0])
