# tools: shop
# kind: row of a matrix indexed with a warehouse name
# expect: not-an-object line 11
capacity = {w["code"]: w["capacity"] for w in list_warehouses()}
stock = get_stock_matrix()
warehouses = stock["warehouses"]

usage = {}
for index, row in enumerate(stock["matrix"]):
    for name in warehouses:
        held = row[name]
        usage.setdefault(name, []).append(held)

for name, amounts in usage.items():
    limit = capacity.get(name)
    share = f"{sum(amounts) / limit:.0%}" if limit else "n/a"
    print(f"{name}: {sum(amounts)} pieces in {len(amounts)} rows, {share} full")
