# tools: shop
# expect: wrong-operand line 7
# fault: zip gives (warehouse name, row) pairs, but they are unpacked as (row, name), so sum() runs over a text
stock = get_stock_matrix()
totals = []
for row, name in zip(stock["warehouses"], stock["matrix"]):
    totals.append((sum(row), name))

totals.sort(reverse=True)
for units, name in totals:
    print(f"{units:>8} {name}")
