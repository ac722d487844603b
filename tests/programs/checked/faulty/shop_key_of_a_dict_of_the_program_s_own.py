# tools: shop
# expect: missing-key line 5
# says: city
rows = [{"city": w["city"], "room": w["capacity"]} for w in list_warehouses()]
print(max(rows, key=lambda r: r["capacity"])["city"])
