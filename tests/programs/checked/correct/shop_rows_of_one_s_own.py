# tools: shop
# expect: none
rows = []
for w in list_warehouses():
    row = {"city": w["city"], "room": w["capacity"]}
    row["share"] = row["room"] / 100
    row.update(code=w["code"])
    rows.append(row)
rows.sort(key=lambda r: r["share"])
print(rows[0]["city"], rows[-1]["code"])
