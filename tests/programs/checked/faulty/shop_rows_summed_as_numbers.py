# tools: shop
# expect: wrong-operand line 3
print(sum(get_stock_matrix()["matrix"]))
