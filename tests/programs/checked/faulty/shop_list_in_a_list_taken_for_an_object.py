# tools: shop
# expect: not-an-object line 4
for row in get_stock_matrix()["matrix"]:
    print(row["stock"])
