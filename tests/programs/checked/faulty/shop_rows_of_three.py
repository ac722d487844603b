# tools: shop
# kind: three names for a pair of zip
# expect: wrong-unpacking line 6
report = get_stock_matrix()
stock = {}
for index, (warehouse, row, total) in enumerate(zip(report["warehouses"], report["matrix"])):
    stock[warehouse] = sum(row)
emptiest = min(stock, key=stock.get)
print(emptiest, stock[emptiest])
