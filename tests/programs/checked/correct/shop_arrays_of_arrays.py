# tools: shop
# expect: none
stock = get_stock_matrix()
for name, row in zip(stock["warehouses"], stock["matrix"]):
    print(name, sum(row), max(row), row[0] + row[-1])
columns = [sum(column) for column in zip(*stock["matrix"])]
print(columns, [cell for row in stock["matrix"] for cell in row if cell > 0][:3])
