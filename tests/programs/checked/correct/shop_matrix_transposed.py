# tools: shop
# expect: none
report = get_stock_matrix()
places = {w["code"]: w["city"] for w in list_warehouses()}
columns = [list(column) for column in zip(*report["matrix"])]
totals = [sum(row) for row in report["matrix"]]
share = {name: total / (sum(totals) or 1) for name, total in zip(report["warehouses"], totals)}
ranked = sorted(share, key=share.get, reverse=True)
scarcest = min(range(len(columns)), key=lambda i: sum(columns[i]), default=-1)
for code in ranked:
    print(f"{places.get(code, code)}: {share[code]:.0%}")
print("scarcest column", scarcest)
